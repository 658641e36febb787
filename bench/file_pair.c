/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The floor: two system calls on a file that is open. */
struct bare {
	struct bench_run *run;
	int fd;
};

static int bare_lock(const struct bare *b, short type)
{
	struct flock range = { .l_type = type,
			       .l_whence = SEEK_SET,
			       .l_len = 1 };

	if (fcntl(b->fd, F_OFD_SETLK, &range) == 0)
		return 0;
	return bench_fail(b->run, "fcntl(F_OFD_SETLK): %s", strerror(errno));
}

static int bare_pair(void *arg)
{
	int rc = bare_lock(arg, F_WRLCK);

	return rc == 0 ? bare_lock(arg, F_UNLCK) : rc;
}

static int bare_open(struct bare *b, struct bench_run *r)
{
	char *path = bench_path(r, "bare");

	b->run = r;
	b->fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	free(path);
	if (b->fd < 0)
		return bench_fail(r, "a file to lock: %s", strerror(errno));
	return 0;
}

static int ours_open(struct bench_lock *lock, struct bench_run *r)
{
	char *uri = bench_file_uri(r);
	int rc = uri ? bench_lock_open(lock, r, uri) :
		       bench_fail(r, "out of memory");

	free(uri);
	return rc;
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT("ns (ratio = ours/floor)");
	struct bench_lock lock;
	struct bare bare;
	int rc;

	bench_pin(r);
	rc = bare_open(&bare, r);
	if (rc != 0)
		return rc;
	rc = ours_open(&lock, r);
	if (rc == 0) {
		rc = bench_pairs(r, (struct bench_op){ bare_pair, &bare },
				 (struct bench_op){ bench_lock_pair, &lock },
				 &res);
		bench_lock_close(&lock);
	}
	close(bare.fd);
	if (rc != 0)
		return rc;
	bench_text(&res, "file_system", bench_file_system(r->dir));
	bench_limit(&res, (struct bench_limit){ "ratio", res.ratio, 2, 4,
						BENCH_TIME });
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_file_pair = {
	.name = "file.pair",
	.summary = "file: acquire and release, with a token; floor: "
		   "F_OFD_SETLK twice on an open file",
	.run = run,
};
