/* SPDX-License-Identifier: Apache-2.0 */
/* The client keeps few descriptors open, and a release needs no further
 * descriptor. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/file/fds.h"

/* After many names and clients, no descriptor and no thread stays. */
CASE(file_descriptors, many_names_keep_few_descriptors)
{
	dlock_client *c = store_open(store_dir(), NULL);
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

static struct rlimit limit_descriptors(rlim_t n)
{
	struct rlimit few, was;

	CHECK(getrlimit(RLIMIT_NOFILE, &was) == 0);
	few = was;
	few.rlim_cur = n;
	CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
	return was;
}

/* The client closes descriptors kept for the next acquire when another name
 * needs descriptors. */
CASE(file_descriptors, descriptors_that_are_kept_are_given_up)
{
	dlock_client *c = store_open(store_dir(), NULL);
	char name[32];
	struct rlimit was;
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
	was = limit_descriptors((rlim_t)fd + 20);
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

/* A break needs a descriptor for the floor, too. */
CASE(file_descriptors, descriptors_that_are_kept_do_not_stop_a_break)
{
	dlock_client *c = store_open(store_dir(), NULL);
	dlock_lock *l = mutex(c, "x");
	struct rlimit was;
	int fd;

	token_after(0, mutex(c, "y"));
	token_after(0, l);
	token_after(0, mutex(c, "z"));
	fd = dup(0);
	CHECK(fd >= 0 && close(fd) == 0);
	was = limit_descriptors((rlim_t)fd);
	CHECK_OK(dlock_break(l, FOREVER));
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
}

/* The files of the names given up are removed, also the first. */
CASE(file_descriptors, no_file_stays_for_want_of_a_descriptor)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	struct rlimit was;
	int fd;

	CHECK_OK(dlock_release(take(mutex(c, "x"), 0)));
	CHECK_OK(dlock_release(take(mutex(c, "y"), 0)));
	fd = dup(0);
	CHECK(fd >= 0 && close(fd) == 0);
	was = limit_descriptors((rlim_t)fd);
	CHECK_OK(dlock_release(take(mutex(c, "z"), 0)));
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK(access(store_file(dir, "l", "x"), F_OK) != 0);
	CHECK(access(store_file(dir, "l", "y"), F_OK) != 0);
}

/* Release `la` without descriptors, and return how long a waiter of `b` still
 * waits. */
static int64_t without_descriptors(dlock_lock *la, dlock_client *b,
				   dlock_lock *lb, dlock_lock *other)
{
	dlock_hold *h = take(la, 0);
	struct taker t = { 0 };
	struct rlimit was;
	int64_t begin, took;

	taker_start(&t, lb, FOREVER);
	EVENTUALLY(stats(b).waiters == 1);
	nap_ms(20); /* time for the holder to read the announcement */
	was = limit_descriptors(3);
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

/* A release without spare descriptors wakes the waiter. An acquire that needs a
 * descriptor fails and tells so. */
CASE(file_descriptors, out_of_descriptors)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");
	dlock_lock *other = mutex(b, "y");

	CHECK_WITHIN(without_descriptors(la, b, lb, other), 700 * slowness());
	CHECK_OK(dlock_release(take(other, 0)));
}

/* Downgrade without descriptors, and return how long a reader still waits. */
static int64_t downgrade_without_descriptors(dlock_lock *la, dlock_client *b,
					     dlock_lock *lb)
{
	dlock_hold *w = take(la, 0), *r = take_shared(la, 0);
	struct taker t = { .shared = 1 };
	struct rlimit was;
	int64_t begin;

	taker_queue(&t, b, lb, FOREVER);
	was = limit_descriptors(3);
	begin = now_ms();
	CHECK_OK(dlock_release(w));
	EVENTUALLY(t.done);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	CHECK_OK(let_go(&t));
	CHECK_OK(dlock_release(r));
	return t.done_ms - begin;
}

CASE(file_descriptors, out_of_descriptors_at_a_downgrade)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, NULL), *b = store_open(dir, NULL);
	dlock_lock *la = rwlock(a, "x"), *lb = rwlock(b, "x");

	CHECK_WITHIN(downgrade_without_descriptors(la, b, lb),
		     500 * slowness());
}

static void count(const struct dlock_lock_info *e, void *arg)
{
	CHECK_INT(strcmp(e->name, "x"), ==, 0);
	*(int *)arg += 1;
}

/* A list without a descriptor for the files is not empty: it fails. */
CASE(file_descriptors, a_list_leaves_no_lock_out)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	struct rlimit was;
	dlock_hold *h;
	int fd, n = 0, rc;

	h = take(mutex(store_open(dir, NULL), "x"), 0);
	fd = dup(0);
	CHECK(fd >= 0 && close(fd) == 0);
	for (rlim_t i = 0; i < 3; i++) {
		was = limit_descriptors((rlim_t)fd + i);
		rc = dlock_list(c, count, &n, patience_ms());
		CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
		CHECK_RC(rc, i < 2 ? DLOCK_EEXHAUSTED : DLOCK_OK);
		CHECK_INT(n, ==, i == 2);
	}
	give(h);
}

/* Acquire the lock of a removed file with so many descriptors. */
static void acquire_with(const char *dir, rlim_t descriptors, uint64_t last)
{
	dlock_client *c = store_open(dir, "keep_file=on");
	dlock_lock *l = mutex(c, "x");
	struct rlimit was;
	dlock_hold *h;
	int fd = dup(0), rc;

	CHECK(fd >= 0 && close(fd) == 0);
	was = limit_descriptors((rlim_t)fd + descriptors);
	rc = dlock_acquire(l, 0, &h);
	CHECK(setrlimit(RLIMIT_NOFILE, &was) == 0);
	if (rc == DLOCK_OK)
		CHECK(dlock_token(h) > last);
	else
		CHECK_INT(rc, ==, DLOCK_EEXHAUSTED);
	if (rc == DLOCK_OK)
		give(h);
	CHECK(unlink(store_file(dir, "l", "x")) == 0 || errno == ENOENT);
	end_now(l);
	end_now(c);
}

/* The file with the tokens of removed files needs a descriptor, too. */
CASE(file_descriptors, tokens_rise_for_want_of_a_descriptor)
{
	const char *dir = store_dir();
	dlock_client *c = store_open(dir, NULL);
	dlock_lock *l = mutex(c, "x");
	uint64_t last = token_after(0, l);

	end_now(l);
	end_now(c);
	CHECK(access(store_file(dir, "l", "x"), F_OK) != 0);
	clock_back_s = 3600;
	for (rlim_t i = 0; i < 8; i++)
		acquire_with(dir, i, last);
}

/* ---- A slow close -------------------------------------------------------- */

struct slow_close {
	pthread_t thread;
	int fd, peer;
	atomic_int done;
};

static void *run_slow_close(void *arg)
{
	struct slow_close *s = arg;

	dlki_file_fds_close(s->fd);
	atomic_store(&s->done, 1);
	return NULL;
}

/* Fill a socket, so the close waits for the peer. */
static void fill(struct slow_close *s)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	const struct linger linger = { 1, 20 };
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	char bytes[65536] = "";

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(listen(listener, 1) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&at, &len) == 0);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK_INT(dlki_file_fds_hold(), ==, 0);
	s->fd = dlki_file_fds_keep(socket(AF_INET, SOCK_STREAM, 0));
	CHECK(connect(s->fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	s->peer = accept(listener, NULL, NULL);
	CHECK(s->peer >= 0 && close(listener) == 0);
	CHECK(setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &linger,
			 sizeof(linger)) == 0);
	while (send(s->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		continue;
}

/* The close of an inotify descriptor may be slow. */
CASE(file_descriptors, a_slow_close_holds_up_no_other_thread)
{
	dlock_client *c = store_open(store_dir(), NULL);
	struct slow_close s = { .done = 0 };

	fill(&s);
	CHECK(pthread_create(&s.thread, NULL, run_slow_close, &s) == 0);
	EVENTUALLY(fcntl(s.fd, F_GETFD) < 0);
	CHECK_OK(dlock_release(take(mutex(c, "x"), 0)));
	CHECK(!atomic_load(&s.done));
	CHECK(close(s.peer) == 0);
	CHECK(pthread_join(s.thread, NULL) == 0);
	CHECK_OK(dlock_release(take(mutex(c, "x"), 0)));
}
