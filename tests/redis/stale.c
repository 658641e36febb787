/* SPDX-License-Identifier: Apache-2.0 */
/* A replica that fell behind takes over: the replica knows an earlier holder,
 * and no later holder. */
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

static void set_up(void)
{
	master = server_start(NULL);
	replica = replica_start(master, NULL);
	feed = proxy_of_case(master);
	server_do(replica, "REPLICAOF 127.0.0.1 %d", lab_proxy_port(feed));
	if (lab_redis_wait_synced(replica, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	front = proxy_of_case(master);
	first = client_of(lab_proxy_port(front), "ttl=6s", NULL);
	c = client_of(lab_proxy_port(front), "ttl=3s", &diary);
	waiting = client_of(lab_proxy_port(front), "ttl=3s", NULL);
}

/* The master dies, and the replica takes over. */
static void promote(void)
{
	struct lab_address to = lab_server_address(replica);

	server_do(replica, "REPLICAOF NO ONE");
	lab_proxy_aim(front, &to);
	server_abandon(master);
	lab_proxy_reset(front);
}

/* Clients hold the lock in turn.  The replica knows of the first holder alone.
 * Return the last hold. */
static dlock_hold *last_of_many(const char *key, dlock_lock *l,
				dlock_lock *earlier, int shared_then)
{
	dlock_hold *h = shared_then ? take_shared(earlier, patience_ms()) :
				      take(earlier, patience_ms());
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

/* The holder learns of the loss in time.  The waiter gets the lock when the
 * lease known to the replica is over, with a larger token than all before. */
static void lost_and_passed_on(dlock_lock *earlier, dlock_lock *l,
			       dlock_lock *waited, const char *key,
			       int shared_then)
{
	dlock_hold *h = last_of_many(key, l, earlier, shared_then);
	struct taker t = { 0 };
	int64_t begin;

	taker_queue(&t, waiting, waited, FOREVER);
	promote();
	begin = now_ms();
	CHECK(strcmp(server_do(replica, "EXISTS %s", key), "1") == 0);
	EVENTUALLY(diary.losses == 1);
	CHECK_INT(diary.lost_ms - begin, <=, TTL_MS / 3 + 100 + slack_ms());
	CHECK_RC(dlock_check(h), DLOCK_ELOST);
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
}

CASE(redis_stale, when_the_master_died)
{
	set_up();
	lost_and_passed_on(mutex(first, "x"), mutex(c, "x"),
			   mutex(waiting, "x"), "dlock:{lnx}", 0);
}

CASE(redis_stale, that_knows_a_reader_where_there_is_a_writer)
{
	set_up();
	lost_and_passed_on(rwlock(first, "x"), rwlock(c, "x"),
			   rwlock(waiting, "x"), "dlock:{lnx}:s", 1);
}
