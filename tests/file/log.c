/* SPDX-License-Identifier: Apache-2.0 */
/* A log callback is called with no lock of the store held: it may wait for a
 * thread that uses the very same name. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "support/sink.h"

TestSuite(file_log, .timeout = 120);

struct user {
	struct sink sink;
	dlock_lock *lock;
};

static void *use(void *arg)
{
	struct user *u = arg;
	dlock_hold *none = NULL;

	EVENTUALLY(u->sink.told);
	if (dlock_acquire(u->lock, 0, &none) == DLOCK_OK)
		CHECK_OK(dlock_release(none));
	u->sink.used = 1;
	return NULL;
}

/* Taking the lock is told to the sink, which another thread need not mind. */
static void takes_and_tells(const char *dir)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct user u = { .sink.about = "" };
	dlock_client *c = NULL;
	char uri[PATH_MAX + 16];
	pthread_t thread;

	snprintf(uri, sizeof(uri), "file://%s", dir);
	o.on_log = sink_waits;
	o.arg = &u.sink;
	CHECK_OK(dlock_open(&c, uri, &o));
	u.lock = mutex(c, "x");
	CHECK(pthread_create(&thread, NULL, use, &u) == 0);
	CHECK_OK(dlock_release(take(u.lock, patience_ms())));
	CHECK(pthread_join(thread, NULL) == 0);
	CHECK_INT(u.sink.told, ==, 1);
	CHECK(!u.sink.in_vain);
	end_now(u.lock);
	dlock_close(c);
}

CASE(file_log, of_a_damaged_file_keeps_nobody_waiting)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, "keep_file=on");
	dlock_lock *l = mutex(c, "x");
	static const char junk[20] = "junk";
	int fd;

	CHECK_OK(dlock_release(take(l, 0)));
	end_now(l);
	end_now(c);
	fd = open(store_file(dir, "l", "x"), O_WRONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK(pwrite(fd, junk, sizeof(junk), 30) == sizeof(junk));
	close(fd);
	takes_and_tells(dir);
}

CASE(file_log, of_no_inotify_keeps_nobody_waiting)
{
	const char *dir = store_dir();

	fail_inotify = EMFILE;
	takes_and_tells(dir);
}

CASE(file_log, of_no_watch_keeps_nobody_waiting)
{
	const char *dir = store_dir();

	fail_watch = ENOSPC;
	takes_and_tells(dir);
}
