/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors: few are open, and a release needs no further one. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Nothing is left open, and no thread, after many names and clients. */
CASE(file_descriptors, many_names_keep_few_descriptors)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	char name[32];
	dlock_lock *l;
	int i, fd;

	for (i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		l = mutex(c, name);
		CHECK_OK(dlock_release(take(l, 0)));
		end_now(l);
	}
	fd = dup(0);
	CHECK_INT(fd, <, 100);
	end_now(c);
	close(fd);
	CHECK_INT(dup(0), <, 30);
}

/* Descriptors that are kept for the next acquire of a name are closed when
 * another name needs them. */
CASE(file_descriptors, descriptors_that_are_kept_are_given_up)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	char name[32];
	struct rlimit few, was;
	dlock_hold *h[8];
	dlock_lock *l[40];
	int i, fd;

	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		l[i] = mutex(c, name);
	}
	CHECK_OK(dlock_release(take(l[0], 0)));
	CHECK_OK(dlock_release(take(l[0], 0)));
	fd = dup(0);
	CHECK(fd >= 0 && close(fd) == 0);
	CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
	few = was;
	few.rlim_cur = (rlim_t)fd + 20;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	for (i = 1; i < 40; i++)
		CHECK_OK(dlock_release(take(l[i], 0)));
	for (i = 0; i < 8; i++)
		h[i] = take(l[i], 0);
	CHECK_OK(dlock_break(l[0], 1000));
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	EVENTUALLY(dlock_check(h[0]) == DLOCK_ELOST);
	CHECK_RC(dlock_release(h[0]), DLOCK_ELOST);
	for (i = 1; i < 8; i++)
		CHECK_OK(dlock_release(h[i]));
	for (i = 0; i < 40; i++)
		end_now(l[i]);
}

/* How long a waiter of `b` still waits when `la` is released so. */
static int64_t without_descriptors(dlock_lock *la, dlock_client *b,
				   dlock_lock *lb, dlock_lock *other)
{
	dlock_hold *h = take(la, 0);
	struct taker t = { 0 };
	struct rlimit few, was;
	int64_t begin, took;

	taker_start(&t, lb, FOREVER);
	EVENTUALLY(stats(b).waiters == 1);
	nap_ms(20); /* the holder hears of the waiter */
	CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
	few = was;
	few.rlim_cur = 3;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	begin = now_ms();
	CHECK_OK(dlock_release(h));
	CHECK_OK(taker_join(&t));
	CHECK_OK(t.release_rc);
	took = now_ms() - begin;
	CHECK_RC(dlock_acquire(other, 0, &h), DLOCK_EEXHAUSTED);
	CHECK_TEXT(dlock_errmsg(), strerror(EMFILE));
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	return took;
}

/* A release wakes without a descriptor to spare; what needs one says so. */
CASE(file_descriptors, out_of_descriptors)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL);
	dlock_client *b = store_open(dir, NULL);
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");
	dlock_lock *other = mutex(b, "y");

	CHECK_WITHIN(without_descriptors(la, b, lb, other), 700 * slowness());
	CHECK_OK(dlock_release(take(other, 0)));
}
