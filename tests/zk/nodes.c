/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, watches and directories in the server. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(zk_nodes, .timeout = 120);

#define DIR "/dlock/lnlock"
#define TRIES 2000

/* Delete the other child than `name`. */
static void drop_other(const char *name)
{
	struct String_vector v = { 0 };

	CHECK_INT(zoo_get_children(bare(), DIR, 0, &v), ==, ZOK);
	CHECK_INT(v.count, ==, 2);
	drop(DIR, v.data[strcmp(v.data[0], name) == 0]);
	deallocate_String_vector(&v);
}

/* The next waiter sees the holder alone, and waits for the same node. */
SHARED(zk_nodes, a_waiter_whose_node_was_deleted_has_no_turn)
{
	struct taker w[2] = { 0 };
	dlock_client *c[3];
	char name[256];
	dlock_hold *h;

	for (int i = 0; i < 3; i++)
		c[i] = client(s->port, "?ttl=30s");
	h = take(mutex(c[0], "lock"), FOREVER);
	CHECK_INT(children(DIR, name), ==, 1);
	taker_queue(&w[0], c[1], mutex(c[1], "lock"), FOREVER);
	drop_other(name);
	taker_queue(&w[1], c[2], mutex(c[2], "lock"), FOREVER);
	CHECK_OK(dlock_release(h));
	EVENTUALLY((w[0].done && w[1].done) ||
		   (w[0].done + w[1].done == 1 && children_are(DIR, 2)));
	ALL_ALONG(300, w[0].done + w[1].done == 1);
	w[0].linger = w[1].linger = 0;
	for (int i = 0; i < 2; i++)
		CHECK_INT(waiter_join(&w[i]), ==, DLOCK_OK);
	CHECK_INT(children(DIR, NULL), ==, 0);
}

/* ... before the holder leaves. */
OWN(zk_nodes, a_waiter_whose_node_was_deleted_queues_again)
{
	dlock_client *a = client(s->port, "?ttl=30s");
	dlock_client *b = client(s->port, "?ttl=30s");
	dlock_hold *h = take(mutex(a, "lock"), FOREVER);
	char name[256];
	struct taker w = { 0 };

	CHECK_INT(children(DIR, name), ==, 1);
	taker_start(&w, mutex(b, "lock"), FOREVER);
	for (int i = 0; i < 5; i++) {
		EVENTUALLY(children_are(DIR, 2));
		drop_other(name);
	}
	EVENTUALLY(children_are(DIR, 2));
	CHECK(!w.done);
	CHECK_OK(dlock_release(h));
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
	EVENTUALLY(watches(s) == 0);
}

OWN(zk_nodes, tries_leave_one_child_and_no_watch)
{
	dlock_client *a = client(s->port, "?ttl=30s&ask=5s");
	dlock_client *b = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *held = mutex(a, "lock"), *l = mutex(b, "lock");
	dlock_hold *h = take(held, FOREVER), *none = NULL;
	struct taker w = { 0 };

	for (int i = 0; i < TRIES; i++)
		is_busy(l);
	for (int i = 0; i < 20; i++)
		CHECK_RC(dlock_acquire(l, 3, &none), DLOCK_EBUSY);
	for (int i = 0; i < 20; i++) {
		taker_start(&w, l, FOREVER);
		EVENTUALLY(stats(b).waiters == 1);
		dlock_cancel(l);
		CHECK_INT(waiter_join(&w), ==, DLOCK_ECANCELED);
	}
	CHECK_INT(children(DIR, NULL), ==, 1);
	/* The holder's watch is left. */
	EVENTUALLY(watches(s) == 1);
	CHECK_OK(dlock_release(h));
	EVENTUALLY(watches(s) == 0);
	CHECK_INT(children(DIR, NULL), ==, 0);
}

SHARED(zk_nodes, foreign_children_are_left_alone)
{
	static const char *const junk[] = {
		"x",
		"lock-0000000001",
		"0123456789abcdef-x-0000000000",
		"0123456789abcdef0123456789abcdef-x-000000000",
		"0123456789abcdef0123456789abcdef-x--000000001",
		"0123456789abcdef0123456789abcdef-y-0000000000",
		"0123456789abcdef0123456789abcdef-x-0000000000-",
		"0123456789abcdef0123456789abcdef-x-9999999999",
		"0123456789abcdef0123456789abcdef-x--0000000000",
		"0123456789abcdef0123456789abcdef-x--2147483649",
		"0123456789abcdef0123456789abcdef-x---2147483648",
		"0123456789ABCDEF0123456789abcdef-x-0000000000",
		"0123456789abcdef0123456789abcdef-s4294967296-0000000000",
	};
	enum { N = sizeof(junk) / sizeof(junk[0]) };
	dlock_client *c = client(s->port, "?ttl=30s&ask=1s");
	dlock_lock *l = mutex(c, "lock");

	CHECK_OK(dlock_release(take(l, FOREVER)));
	for (int i = 0; i < N; i++) {
		char path[256];

		snprintf(path, sizeof(path), DIR "/%s", junk[i]);
		make(path);
	}
	CHECK_OK(dlock_release(take(l, 0)));
	CHECK_INT(children(DIR, NULL), ==, N);
}

/* The server removes empty containers.  A user that deletes nodes, too, takes
 * the locks away, and tokens rise all the same. */
SHARED(zk_nodes, a_directory_may_vanish)
{
	dlock_client *c = client(s->port, "?ttl=30s&ask=1s");
	dlock_client *other = client(s->port, "?ttl=30s&ask=1s");
	dlock_lock *l = mutex(c, "lock"), *waits = mutex(other, "lock");
	uint64_t token = 0;

	for (int i = 0; i < 5; i++) {
		dlock_hold *h = take(l, FOREVER);
		struct taker w = { 0 };
		char name[256];

		CHECK_INT(dlock_token(h), >, token);
		token = dlock_token(h);
		taker_start(&w, waits, PATIENCE);
		EVENTUALLY(stats(other).waiters == 1);
		while (children(DIR, name) > 0)
			drop(DIR, name);
		zoo_delete(bare(), DIR, -1);
		EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
		CHECK_RC(dlock_release(h), DLOCK_ELOST);
		CHECK_INT(pthread_join(w.thread, NULL), ==, 0);
		CHECK_OK(w.rc);
		/* The waiter's node was dropped, perhaps after the grant. */
		if (w.release_rc != DLOCK_ELOST)
			CHECK_OK(w.release_rc);
	}
}

SHARED(zk_nodes, a_waiter_polls_now_and_then)
{
	dlock_client *a = client(s->port, "?ttl=30s");
	dlock_client *b = client(s->port, "?ttl=600ms");
	dlock_hold *h = take(mutex(a, "lock"), FOREVER);
	struct taker w = { 0 };
	uint64_t before;

	taker_start(&w, mutex(b, "lock"), FOREVER);
	EVENTUALLY(stats(b).waiters == 1);
	before = stats(b).polls;
	EVENTUALLY(stats(b).polls >= before + 3);
	CHECK_OK(dlock_release(h));
	CHECK_INT(waiter_join(&w), ==, DLOCK_OK);
}

static atomic_int enough;

static void *ask_wrongly(void *arg)
{
	dlock_hold *none = NULL;

	while (!atomic_load(&enough))
		CHECK_RC(dlock_acquire(arg, 0, &none), DLOCK_EINVAL);
	return NULL;
}

/* A refused request does not make the store refuse others. */
SHARED(zk_nodes, the_wrong_number_of_permits_is_refused_alone)
{
	dlock_client *c[3];
	dlock_lock *l[3];
	dlock_hold *h = NULL, *more = NULL;
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		c[i] = client(s->port, "?ttl=30s&ask=5s");
		l[i] = semaphore(c[i], "lock", i == 2 ? 2 : 3);
	}
	CHECK_OK(dlock_acquire(l[0], FOREVER, &h));
	CHECK_INT(pthread_create(&thread, NULL, ask_wrongly, l[2]), ==, 0);
	for (int i = 0; i < 1000; i++) {
		CHECK_OK(dlock_acquire(l[1], PATIENCE, &more));
		CHECK_OK(dlock_release(more));
	}
	atomic_store(&enough, 1);
	pthread_join(thread, NULL);
	CHECK_OK(dlock_release(h));
}

CASE(zk_nodes, the_server_sets_the_time_out)
{
	struct lab_zk_options o = { .min_session_ms = 4000,
				    .max_session_ms = 6000 };
	struct lab_server *s = server(&o);
	dlock_client *c = client(s->port, "?ttl=1s");

	CHECK_INT(dlock_ttl_ms(c), ==, 4000);
	end_now(c);
	c = client(s->port, "?ttl=1m");
	CHECK_INT(dlock_ttl_ms(c), ==, 6000);
}

OWN(zk_nodes, one_write_keeps_all_holds)
{
	enum { HOLDS = 50 };
	dlock_client *c = watched_client(s->port, "?ttl=1500ms");
	dlock_hold *h[HOLDS];
	int64_t before, begun;
	uint64_t renewed;

	for (int i = 0; i < HOLDS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "lock%d", i);
		h[i] = take(mutex(c, name), FOREVER);
	}
	EVENTUALLY(watches(s) == HOLDS);
	before = lab_zk_number(s, "srvr", "Received");
	renewed = stats(c).renewed;
	begun = now_ms();
	EVENTUALLY(stats(c).renewed >= renewed + 6 * HOLDS &&
		   now_ms() - begun >= 2 * dlock_ttl_ms(c));
	/* Six proofs, and pings, and this case's request. */
	CHECK_INT(lab_zk_number(s, "srvr", "Received") - before, <, 25);
	for (int i = 0; i < HOLDS; i++)
		CHECK_OK(dlock_release(h[i]));
	CHECK_INT(diary.losses, ==, 0);
}
