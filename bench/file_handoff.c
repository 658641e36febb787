/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/handoff.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The floor: flock(2), which blocks in the kernel. */
struct flocked {
	struct bench_run *run;
	int fd;
};

static int flock_open(struct bench_run *r, const char *where, void *other,
		      void **out)
{
	struct flocked *f = malloc(sizeof(*f));

	(void)other;
	if (!f)
		return bench_fail(r, "out of memory");
	f->run = r;
	f->fd = open(where, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (f->fd < 0) {
		free(f);
		return bench_fail(r, "a file to lock: %s", strerror(errno));
	}
	*out = f;
	return 0;
}

static void flock_close(void *lock)
{
	close(((struct flocked *)lock)->fd);
	free(lock);
}

static int flock_do(const struct flocked *f, int what)
{
	int rc;

	do
		rc = flock(f->fd, what);
	while (rc != 0 && errno == EINTR);
	return rc == 0 ? 0 : bench_fail(f->run, "flock: %s", strerror(errno));
}

static int flock_take(void *lock)
{
	return flock_do(lock, LOCK_EX);
}

static int flock_give(void *lock)
{
	return flock_do(lock, LOCK_UN);
}

static int measure(struct bench_run *r, const char *path, const char *uri,
		   struct bench_result *res)
{
	const struct handoff plan = {
		.floor = { flock_open, flock_close, flock_take, flock_give,
			   NULL },
		.ours = handoff_dlock,
		.floor_where = path,
		.our_where = uri,
	};

	if (!path || !uri)
		return bench_fail(r, "out of memory");
	return handoff_measure(r, &plan, res);
}

/* A look every 50 ms at most; the kernel counts a few more, for the beginning
 * and the end of the wait. */
static void limits(struct bench_result *res)
{
	bench_limit(res, (struct bench_limit){ "ratio", res->ratio, 4, 8,
					       BENCH_TIME });
	for (size_t i = 0; i < res->n_extras; i++) {
		const struct bench_extra *x = &res->extra[i];

		if (strcmp(x->name, "polls_per_s") == 0 ||
		    strcmp(x->name, "attempts_per_s") == 0)
			bench_limit(res,
				    (struct bench_limit){ x->name, x->value, 20,
							  21, BENCH_ALWAYS });
		if (strcmp(x->name, "wakeups_per_s") == 0)
			bench_limit(res,
				    (struct bench_limit){ x->name, x->value, 30,
							  60, BENCH_PLAIN });
	}
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT("ns (ratio = ours/floor)");
	char *path = bench_path(r, "flock");
	char *uri = bench_file_uri(r);
	int rc = measure(r, path, uri, &res);

	free(path);
	free(uri);
	if (rc != 0)
		return rc;
	limits(&res);
	bench_text(&res, "file_system", bench_file_system(r->dir));
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_file_handoff = {
	.name = "file.handoff",
	.summary = "file: from release to a waiter in another process, and "
		   "what waiting costs; floor: flock(2)",
	.run = run,
};
