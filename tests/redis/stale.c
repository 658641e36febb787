/* SPDX-License-Identifier: Apache-2.0 */
/* A replica that fell behind takes over.  It knows of one who held the lock
 * some time ago, and of nobody who came since. */
#include "support.h"

#include <criterion/criterion.h>
#include <string.h>

#include "lab/base/fail.h"

TestSuite(redis_stale, .timeout = 120);

enum { TURNS = 5, STALE_MS = 6000, TTL_MS = 3000 };

static struct lab_server *master, *replica;
static struct lab_proxy *front; /* between clients and the master */
static struct lab_proxy *feed;  /* between the master and its replica */
static struct diary diary = DIARY_INIT;
static dlock_client *first, *c, *waiting;

static void in_step(void)
{
	if (lab_redis_wait_synced(replica, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
}

static void set_up(void)
{
	struct lab_redis_options o = { 0 };

	master = server_start(NULL);
	o.replica_of = master;
	replica = server_start(&o);
	in_step();
	feed = proxy_start(master);
	server_do(replica, "REPLICAOF 127.0.0.1 %d", lab_proxy_port(feed));
	in_step();
	front = proxy_start(master);
	first = client_of(lab_proxy_port(front), "ttl=6s", NULL);
	c = client_of(lab_proxy_port(front), "ttl=3s", &diary);
	waiting = client_of(lab_proxy_port(front), "ttl=3s", NULL);
}

static void promote(int master_dies)
{
	struct lab_address to = lab_server_address(replica);

	server_do(replica, "REPLICAOF NO ONE");
	CHECK(lab_proxy_aim(front, &to) == 0);
	if (master_dies)
		server_abandon(master);
	lab_proxy_reset(front);
}

/* The hold is gone since `begin`, which is found in time. */
static void lost_since(int64_t begin, const dlock_hold *h)
{
	EVENTUALLY(diary.losses == 1);
	CHECK_INT(diary.lost_ms - begin, <=, TTL_MS / 3 + 100 + slack_ms());
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
}

static dlock_hold *take_either(dlock_lock *l, int shared)
{
	return shared ? take_shared(l, patience_ms()) : take(l, patience_ms());
}

/* The last of some who hold the lock one after the other, the first of whom is
 * all that the replica knows of. */
static dlock_hold *last_of_many(const char *key, dlock_lock *l,
				dlock_lock *earlier, int shared_then)
{
	dlock_hold *h = take_either(earlier, shared_then);
	uint64_t token = dlock_token(h);

	EVENTUALLY(strcmp(server_do(replica, "EXISTS %s", key), "1") == 0);
	lab_proxy_hole(feed, LAB_DOWN, true);
	give(h);
	for (int i = 0; i < TURNS; i++) {
		h = take(l, patience_ms());
		CHECK(dlock_token(h) > token);
		token = dlock_token(h);
		if (i < TURNS - 1)
			give(h);
	}
	return h;
}

/*
 * The holder learns of the loss in time.  The waiter gets the lock when the
 * lease that the replica knows has ended; its token is larger than any before.
 */
static void lost_and_passed_on(dlock_lock *earlier, dlock_lock *l,
			       dlock_lock *waited, const char *key,
			       int shared_then, int master_dies)
{
	dlock_hold *h = last_of_many(key, l, earlier, shared_then);
	struct taker t = { 0 };
	int64_t begin;

	taker_queue(&t, waiting, waited, FOREVER);
	promote(master_dies);
	begin = now_ms();
	CHECK(strcmp(server_do(replica, "EXISTS %s", key), "1") == 0);
	lost_since(begin, h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK(t.token > dlock_token(h));
	CHECK_INT(t.done_ms - begin, <=, STALE_MS + slack_ms());
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	let_go(&t);
	CHECK_OK(t.release_rc);
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > t.token);
	give(h);
	if (!master_dies)
		server_abandon(master);
}

CASE(redis_stale, when_the_master_died)
{
	set_up();
	lost_and_passed_on(mutex(first, "x"), mutex(c, "x"),
			   mutex(waiting, "x"), "dlock:{lnx}", 0, 1);
}

/* Cut off from us, the old master goes on, and nobody asks it. */
CASE(redis_stale, while_the_master_lives_on)
{
	set_up();
	lost_and_passed_on(mutex(first, "x"), mutex(c, "x"),
			   mutex(waiting, "x"), "dlock:{lnx}", 0, 0);
}

CASE(redis_stale, that_knows_a_reader_where_there_is_a_writer)
{
	set_up();
	lost_and_passed_on(rwlock(first, "x"), rwlock(c, "x"),
			   rwlock(waiting, "x"), "dlock:{lnx}:s", 1, 1);
}

/* It had not even begun. */
CASE(redis_stale, that_knows_nothing)
{
	dlock_lock *l;
	dlock_hold *h;
	uint64_t token;
	int64_t begin;

	set_up();
	l = mutex(c, "x");
	lab_proxy_hole(feed, LAB_DOWN, true);
	for (int i = 0; i < TURNS; i++)
		give(take(l, patience_ms()));
	h = take(l, patience_ms());
	token = dlock_token(h);
	promote(1);
	server_do(replica, "FLUSHALL");
	begin = now_ms();
	lost_since(begin, h);
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
	h = take(l, patience_ms());
	CHECK(dlock_token(h) > token);
	give(h);
}
