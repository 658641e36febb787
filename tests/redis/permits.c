/* SPDX-License-Identifier: Apache-2.0 */
/* The number of a semaphore's permits, in the server. */
#include <criterion/criterion.h>
#include <string.h>

#include "redis/support.h"

TestSuite(redis_permits, .timeout = 120);

static struct lab_server *server;
static dlock_client *c, *d;
static dlock_lock *mine, *theirs;

static void set_up(const char *query, uint32_t permits)
{
	server = two_start(query, NULL, &c, &d);
	mine = semaphore(c, "s", permits);
	theirs = semaphore(d, "s", permits);
}

static void set_limit(uint32_t permits)
{
	CHECK_OK(dlock_semaphore_resize(theirs, permits, patience_ms()));
}

/* The waiter's own number is larger.  Where order is any, a waiter that was
 * woken does not keep the number in force. */
static void shrinks(const char *query, int is_kept)
{
	struct taker t = { 0 };
	dlock_hold *h[3];

	set_up(query, 3);
	for (int i = 0; i < 3; i++)
		h[i] = take(mine, patience_ms());
	taker_queue(&t, d, theirs, FOREVER);
	set_limit(1);
	for (int i = 0; i < 3; i++) {
		CHECK(!t.done);
		give(h[i]);
		if (i < 2)
			CHECK_RC(dlock_acquire(mine, 0, &h[i]), DLOCK_EBUSY);
	}
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	if (is_kept)
		CHECK_RC(dlock_acquire(mine, 0, &h[0]), DLOCK_EBUSY);
	let_go(&t);
}

CASE(redis_permits, shrunk_are_counted_at_each_release)
{
	shrinks("ttl=30s", 1);
}

CASE(redis_permits, shrunk_are_counted_where_order_is_any)
{
	shrinks("ttl=30s&order=any", 0);
}

static void grows(const char *query)
{
	struct taker t[3] = { { 0 }, { 0 }, { 0 } };
	dlock_hold *h;

	set_up(query, 1);
	h = take(mine, patience_ms());
	for (int i = 0; i < 3; i++)
		taker_queue(&t[i], d, theirs, FOREVER);
	set_limit(4);
	for (int i = 0; i < 3; i++) {
		EVENTUALLY(t[i].done);
		CHECK_OK(t[i].rc);
	}
	CHECK_RC(dlock_acquire(mine, 0, &h), DLOCK_EBUSY);
	for (int i = 0; i < 3; i++)
		let_go(&t[i]);
	give(h);
}

CASE(redis_permits, that_come_wake_waiters)
{
	grows("ttl=30s");
}

CASE(redis_permits, that_come_wake_waiters_where_order_is_any)
{
	grows("ttl=30s&order=any");
}

static void note_permits(const struct dlock_lock_info *entry, void *arg)
{
	if (strcmp(entry->name, "s") == 0)
		*(uint32_t *)arg = entry->permits;
}

CASE(redis_permits, that_were_set_are_listed_and_forgotten)
{
	uint32_t permits = 0;
	dlock_hold *h;

	set_up("ttl=30s", 2);
	h = take(mine, patience_ms());
	set_limit(5);
	CHECK_OK(dlock_list(d, note_permits, &permits, patience_ms()));
	CHECK_INT(permits, ==, 5);
	give(h);
	CHECK_RC(dlock_semaphore_resize(mine, 5, patience_ms()), DLOCK_EINVAL);
	h = take(mine, patience_ms());
	CHECK_OK(dlock_list(d, note_permits, &permits, patience_ms()));
	CHECK_INT(permits, ==, 2);
	give(h);
}

/* The holder died: what it was set to goes with its lease. */
CASE(redis_permits, that_were_set_do_not_outlive_the_last_lease)
{
	dlock_hold *h, *none = NULL;

	set_up("ttl=30s", 2);
	h = take(mine, patience_ms());
	set_limit(1);
	server_do(server, "ZADD dlock:{sns}:s 1 dead");
	server_do(server, "ZREMRANGEBYRANK dlock:{sns}:s 1 1");
	CHECK_RC(dlock_semaphore_resize(theirs, 1, patience_ms()),
		 DLOCK_EINVAL);
	CHECK_OK(dlock_acquire(theirs, 0, &none));
	CHECK_OK(dlock_release(none));
	CHECK_RC(dlock_release(h), DLOCK_ELOST);
}
