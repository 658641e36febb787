/* SPDX-License-Identifier: Apache-2.0 */
/* Draw tokens from memory while other threads and clients draw tokens. */
#include "support.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>

struct loops {
	dlock_client *client;
	atomic_int stop;
	uint64_t last; /* under "a" */
};

static void *loop_a(void *arg)
{
	struct loops *t = arg;
	dlock_lock *l = mutex(t->client, "a");
	dlock_hold *h;

	while (!t->stop) {
		h = take(l, FOREVER);
		CHECK(dlock_token(h) > t->last);
		t->last = dlock_token(h);
		give(h);
	}
	end_now(l);
	return NULL;
}

static void *loop_b(void *arg)
{
	struct loops *t = arg;
	dlock_lock *l = mutex(t->client, "b");

	while (!t->stop)
		CHECK_OK(dlock_release(take(l, FOREVER)));
	end_now(l);
	return NULL;
}

/* A client draws tokens of two names from memory at the same time, and each
 * thread sees the changes of both files. */
CASE(file_drawn, two_tight_loops_of_one_client)
{
	const char *dir = store_dir();
	struct loops t = { 0 };
	pthread_t thread[2];
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;
	int i;

	t.client = store_open(dir, "keep_file=on");
	c = store_open(dir, "keep_file=on");
	l = mutex(c, "a");
	CHECK(pthread_create(&thread[0], NULL, loop_a, &t) == 0);
	CHECK(pthread_create(&thread[1], NULL, loop_b, &t) == 0);
	for (i = 0; i < 200; i++) {
		h = take(l, FOREVER);
		CHECK(dlock_token(h) > t.last);
		t.last = dlock_token(h);
		CHECK_OK(dlock_release(h));
		nap_ms(3);
	}
	t.stop = 1;
	for (i = 0; i < 2; i++)
		CHECK(pthread_join(thread[i], NULL) == 0);
}

static void again_and_again(dlock_lock *l)
{
	for (int i = 0; i < 200; i++)
		CHECK_OK(dlock_release(take(l, FOREVER)));
}

static void *use(void *lock)
{
	CHECK_OK(dlock_release(take(lock, 0)));
	return NULL;
}

/* A thread closes an idle name while another thread opens the name. The close
 * must not end the new watch of the file. */
CASE(file_drawn, a_name_is_closed_while_it_is_opened)
{
	const char *dir = store_dir();
	/* The watch is of a file. */
	dlock_client *a = store_open(dir, "keep_file=on");
	dlock_client *b = store_open(dir, "keep_file=on");
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");
	char name[32];
	dlock_lock *l;
	pthread_t t;
	int i;

	for (i = 0; i < 33; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		l = mutex(a, name);
		use(l);
		end_now(l);
		if (i < 2)
			again_and_again(la);
	}
	l = mutex(a, "one-more");
	slow_unwatch = 1;
	CHECK(pthread_create(&t, NULL, use, l) == 0);
	EVENTUALLY(slow_unwatch <= 0);
	again_and_again(la);
	CHECK(pthread_join(t, NULL) == 0);
	use(la);
	token_after(token_after(0, lb), la);
}

/* On a network file system, inotify is silent about clients of other hosts. */
CASE(file_drawn, beside_a_client_of_another_host)
{
	const char *dir = store_dir();
	dlock_client *a = store_open(dir, "remote=on");
	dlock_client *b = store_open(dir, "remote=on");
	dlock_lock *la = mutex(a, "x"), *lb = mutex(b, "x");
	dlock_hold *h;

	deaf_watches = 1;
	again_and_again(la);
	token_after(token_after(0, lb), la);
	again_and_again(la);
	CHECK_OK(dlock_break(lb, FOREVER));
	h = take(lb, 0);
	CHECK_RC(dlock_acquire(la, 0, &(dlock_hold *){ NULL }), DLOCK_EBUSY);
	give(h);
}
