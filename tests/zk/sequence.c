/* SPDX-License-Identifier: Apache-2.0 */
/* A directory in which two thousand million nodes were made: all later nodes
 * have the same number. */
#include "zk/support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "backends/zk/queue.h"
#include "zk/log.h"

TestSuite(zk_sequence, .timeout = 120);

#define LAST "2147483647"
#define DIR "/dlock/lnlock"

struct turn {
	pthread_t thread;
	dlock_lock *lock;
	int number;
};

static atomic_int inside, turns;
static _Atomic uint64_t last_token;

static void *take_turn(void *arg)
{
	struct turn *t = arg;
	dlock_hold *h = take(t->lock, FOREVER);

	CHECK_INT(atomic_fetch_add(&inside, 1), ==, 0);
	CHECK_INT(atomic_fetch_add(&turns, 1), ==, t->number);
	CHECK_INT(dlock_token(h), >, last_token);
	last_token = dlock_token(h);
	atomic_fetch_sub(&inside, 1);
	CHECK_OK(dlock_release(h));
	return NULL;
}

CASE(zk_sequence, the_queue_is_in_order_past_the_last_number)
{
	enum { TURNS = 8 };
	struct lab_server *s = zk_log_old_server(DIR);
	dlock_client *c[2] = { client(s->port, "?ttl=30s&ask=2s"),
			       client(s->port, "?ttl=30s&ask=2s") };
	dlock_lock *l[2] = { mutex(c[0], "lock"), mutex(c[1], "lock") };
	struct turn turn[TURNS];

	for (int round = 0; round < 3; round++) {
		dlock_hold *h = take(l[0], FOREVER);
		int fd = dlock_wanted_fd(h);

		turns = 0;
		last_token = dlock_token(h);
		for (int i = 0; i < TURNS; i++) {
			turn[i].lock = l[i % 2];
			turn[i].number = i;
			CHECK_INT(pthread_create(&turn[i].thread, NULL,
						 take_turn, &turn[i]),
				  ==, 0);
			EVENTUALLY(stats(c[0]).waiters + stats(c[1]).waiters ==
				   (uint64_t)i + 1);
			/* Later waiters of the holder's client know that the
			 * other client waits. */
			if (i == 1)
				EVENTUALLY(is_readable(fd, 0));
		}
		is_busy(l[1]);
		CHECK_OK(dlock_release(h));
		for (int i = 0; i < TURNS; i++)
			pthread_join(turn[i].thread, NULL);
		CHECK(children_are(DIR, 1));
	}
}

static void *take_turns(void *arg)
{
	for (int i = 0; i < 50; i++) {
		dlock_hold *h = take(arg, FOREVER);

		CHECK_INT(atomic_fetch_add(&inside, 1), ==, 0);
		atomic_fetch_sub(&inside, 1);
		CHECK_OK(dlock_release(h));
	}
	return NULL;
}

/* Many at once, so the server counts past the last number before it stops. */
CASE(zk_sequence, a_crowd_leaves_nothing_past_the_last_number)
{
	enum { CLIENTS = 2, CROWD = 8 };
	struct lab_server *s = zk_log_old_server(DIR);
	dlock_client *c[CLIENTS];
	pthread_t thread[CROWD];

	for (int i = 0; i < CLIENTS; i++)
		c[i] = client(s->port, "?ttl=30s&ask=10s");
	for (int i = 0; i < CROWD; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, take_turns,
					 mutex(c[i % CLIENTS], "lock")),
			  ==, 0);
	for (int i = 0; i < CROWD; i++)
		pthread_join(thread[i], NULL);
	CHECK_INT(children(DIR, NULL), ==, 1);
}

/* All nodes have the number of the last holder's node. */
CASE(zk_sequence, a_set_number_lets_no_waiter_in_past_the_last_number)
{
	struct lab_server *s = zk_log_old_server("/dlock/snpool");
	dlock_client *c = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *l = semaphore(c, "pool", 3);
	dlock_hold *h[3];

	for (int i = 0; i < 6; i++)
		CHECK_OK(dlock_release(take(l, FOREVER)));
	for (int i = 0; i < 3; i++)
		h[i] = take(l, FOREVER);
	CHECK_OK(dlock_semaphore_resize(l, 2, PATIENCE));
	is_busy(l);
	CHECK_OK(dlock_release(h[0]));
	is_busy(l);
	CHECK_OK(dlock_release(h[1]));
	h[0] = take(l, FOREVER);
	is_busy(l);
	CHECK_OK(dlock_release(h[0]));
	CHECK_OK(dlock_release(h[2]));
}

/* ... and the holders beyond the set number are no waiters. */
CASE(zk_sequence, a_smaller_number_keeps_the_holders_past_the_last_number)
{
	struct lab_server *s = zk_log_old_server("/dlock/snpool");
	dlock_client *c = client(s->port, "?ttl=30s&ask=5s");
	dlock_lock *l = semaphore(c, "pool", 3);
	struct dlock_permits permits = { .size = sizeof(permits) };
	struct taker waiter = { 0 };
	dlock_hold *h[3];

	for (int i = 0; i < 6; i++)
		CHECK_OK(dlock_release(take(l, FOREVER)));
	for (int i = 0; i < 3; i++)
		h[i] = take(l, FOREVER);
	taker_queue(&waiter, c, l, FOREVER);
	CHECK_OK(dlock_semaphore_resize(l, 2, PATIENCE));
	CHECK_OK(dlock_semaphore_resize(l, 1, PATIENCE));
	CHECK_OK(dlock_semaphore_permits(l, &permits, PATIENCE));
	CHECK_INT(permits.held, ==, 3);
	CHECK_OK(dlock_break(l, PATIENCE));
	for (int i = 0; i < 3; i++) {
		EVENTUALLY(dlock_check(h[i]) == DLOCK_ELOST);
		CHECK_RC(dlock_release(h[i]), DLOCK_ELOST);
	}
	CHECK_OK(let_go(&waiter));
}

/* A client that waits for each answer has the same number for all nodes ... */
CASE(zk_sequence, numbers_stick)
{
	char name[64] = "";

	zk_log_old_server(DIR);
	for (int i = 0; i < 6; i++)
		CHECK_INT(zoo_create(
				  bare(), DIR "/a", "", 0, &ZOO_OPEN_ACL_UNSAFE,
				  ZOO_EPHEMERAL_SEQUENTIAL, name, sizeof(name)),
			  ==, i < 4 ? ZOK : ZNODEEXISTS);
	CHECK_TEXT(name, LAST);
}

static atomic_int made, past;

static void note_name(int rc, const char *path, const void *data)
{
	struct zk_participant p = { 0 };

	(void)data;
	CHECK_INT(rc, ==, ZOK);
	CHECK(dlki_zk_parse(strrchr(path, '/') + 1, &p));
	CHECK_INT(p.sequence, >=, ZK_LAST_SEQUENCE - 3);
	atomic_fetch_add(&past, strstr(path, "x--") != NULL);
	atomic_fetch_add(&made, 1);
}

/* ... and a client that does not wait has negative numbers, which dlock must
 * know, too. */
CASE(zk_sequence, numbers_overflow_in_flight)
{
	enum { NODES = 200 };

	zk_log_old_server(DIR);
	for (int i = 0; i < NODES; i++) {
		char path[128];

		snprintf(path, sizeof(path), DIR "/%032x-x-", (unsigned int)i);
		CHECK_INT(zoo_acreate(bare(), path, "", 0, &ZOO_OPEN_ACL_UNSAFE,
				      ZOO_EPHEMERAL_SEQUENTIAL, note_name,
				      NULL),
			  ==, ZOK);
	}
	EVENTUALLY(made == NODES);
	CHECK_INT(past, >, 0);
}
