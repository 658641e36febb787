/* SPDX-License-Identifier: Apache-2.0 */
/* file: and the floors, the kernel's locks on an open file. */
#include "bench/store.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lab/base/fail.h"
#include "lab/base/process.h"

/* The lab's supervisor removes the directory, however this process ends. */
static void store_open(struct bench_store *s)
{
	const char *base = getenv("TMPDIR");
	char *path, *end;
	int plain;

	s->dir = store_text("%s/dlock-bench.XXXXXX",
			    base && *base ? base : "/tmp");
	s->supervisor = lab_process_new(s->dir);
	if (!s->supervisor)
		bench_fail("%s; set TMPDIR to a directory that can be written",
			   lab_errmsg());
	path = end = bench_alloc(3 * strlen(s->dir) + 1, 1);
	for (const char *p = s->dir; *p; p++) {
		plain = isalnum((unsigned char)*p) || strchr("-._~/", *p);
		end += snprintf(end, 4, plain ? "%c" : "%%%02X",
				(unsigned char)*p);
	}
	s->uri = store_text("file://%s/store", path);
	free(path);
}

const struct store_desc store_file = { .name = "file", .open = store_open };

/* ---- Floors -------------------------------------------------------------- */

static void open_file(struct bench_lock *l)
{
	char *path = store_text("%s/bare", l->store->dir);

	l->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (l->fd < 0)
		bench_fail("%s: %s", path, strerror(errno));
	free(path);
}

static void close_file(struct bench_lock *l)
{
	close(l->fd);
}

static void report_file_system(const struct bench_store *s,
			       struct bench_result *res)
{
	bench_text(res, "file_system", bench_file_system(s->dir));
}

static void set_ofd_lock(const struct bench_lock *l, short type)
{
	struct flock range = { .l_type = type,
			       .l_whence = SEEK_SET,
			       .l_len = 1 };

	if (fcntl(l->fd, F_OFD_SETLK, &range) != 0)
		bench_fail("fcntl(F_OFD_SETLK): %s", strerror(errno));
}

static void ofd_pair(void *lock)
{
	set_ofd_lock(lock, F_WRLCK);
	set_ofd_lock(lock, F_UNLCK);
}

static void do_flock(const struct bench_lock *l, int what)
{
	int rc;

	do
		rc = flock(l->fd, what);
	while (rc != 0 && errno == EINTR);
	if (rc != 0)
		bench_fail("flock: %s", strerror(errno));
}

static void flock_acquire(struct bench_lock *l)
{
	do_flock(l, LOCK_EX);
}

static void flock_release(struct bench_lock *l)
{
	do_flock(l, LOCK_UN);
}

/* Two system calls. */
const struct lock_ops floor_ofd = {
	.open = open_file,
	.close = close_file,
	.pair = ofd_pair,
	.finish = report_file_system,
};

/* Waiters block in the kernel. */
const struct lock_ops floor_flock = {
	.open = open_file,
	.close = close_file,
	.acquire = flock_acquire,
	.release = flock_release,
	.finish = report_file_system,
};
