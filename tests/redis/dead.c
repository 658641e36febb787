/* SPDX-License-Identifier: Apache-2.0 */
/* Dead clients leave no entries in the server while other clients live. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(redis_dead, .timeout = 120);

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *c, *dying, *last;
static dlock_lock *l, *ll; /* c's and last's */

static void set_up(const char *query)
{
	server = three_start(query, &proxy, &c, &dying, &last);
	l = mutex(c, "x");
	ll = mutex(last, "x");
}

static long count(const char *command)
{
	return strtol(server_do(server, "%s", command), NULL, 10);
}

#define LINE "ZCARD dlock:{lnx}:q"

/* The first client holds, and the last client waits. */
static dlock_hold *busy(struct taker *living)
{
	dlock_hold *h = take(l, 0);

	taker_queue(living, last, ll, FOREVER);
	return h;
}

static void handed_on(dlock_hold *h, struct taker *living)
{
	CHECK(!living->done);
	give(h);
	EVENTUALLY(living->done);
	CHECK_OK(living->rc);
	let_go(living);
}

/* Waiters that died long ago, at the head of the queue. */
static void the_dead_come(int n)
{
	server_do(server,
		  "EVAL \"for i = 1, %d do "
		  "local w = string.format('%%032x', i) "
		  "redis.call('ZADD', KEYS[1], i, w) "
		  "redis.call('HSET', KEYS[2], w, "
		  "'W 1 f x 0 1 dlock:inbox:none 1 tail') end "
		  "return %d\" 2 dlock:{lnx}:q dlock:{lnx}:i",
		  n, n);
}

/* The next attempt is due in 20 s. */
CASE(redis_dead, waiters_by_the_thousand_do_not_hold_up_a_release)
{
	struct taker u = { 0 };
	dlock_hold *h;

	set_up("ttl=60s");
	h = busy(&u);
	the_dead_come(8000);
	handed_on(h, &u);
	CHECK_INT(count("HLEN dlock:{lnx}:i"), ==, 0);
}

/* The last waiter is the only live one, and the dead holder's lease ends before
 * this waiter's second attempt. */
CASE(redis_dead, waiters_do_not_hide_the_last_waiter)
{
	struct taker u = { 0 };
	dlock_client *holder;
	dlock_lock *held;
	dlock_hold *h, *next;
	int64_t begin;

	set_up("ttl=12s");
	/* After a first wait the client has the channel, and asks once. */
	h = busy(&u);
	handed_on(h, &u);
	holder = client_of(lab_proxy_port(proxy), "ttl=3s", NULL);
	held = mutex(holder, "x");
	begin = now_ms();
	h = take(held, 0);
	cut_off(proxy);
	the_dead_come(4);
	next = take(ll, FOREVER);
	CHECK_INT(now_ms() - begin, <, 3900);
	give(next);
	lab_proxy_heal(proxy);
	dlock_release(h);
}

/* Readers in turn keep the hash of participants alive for longer than the dead
 * writers' queue would have lasted. */
CASE(redis_dead, writers_are_forgotten_while_readers_go_on)
{
	enum { DEAD = 5 };
	dlock_lock *mine, *theirs, *dead;
	dlock_hold *h, *next;

	set_up("ttl=600ms");
	mine = rwlock(c, "r");
	theirs = rwlock(last, "r");
	dead = rwlock(dying, "r");
	h = take_shared(mine, 0);
	for (int round = 0; round < 3; round++) {
		struct taker t[DEAD];

		memset(t, 0, sizeof(t));
		for (int i = 0; i < DEAD; i++)
			taker_queue(&t[i], dying, dead, FOREVER);
		cut_off(proxy);
		/* No attempt for longer than a queue lasts. */
		nap_ms(dlock_ttl_ms(c) * 3 / 2);
		next = take_shared(round % 2 ? mine : theirs, patience_ms());
		/* Two readers, and the lock's own field. */
		CHECK_INT(count("HLEN dlock:{lnr}:i"), <=, 3);
		give(h);
		h = next;
		bury(proxy, t, DEAD);
	}
	give(h);
}

/* All permits at once, so no key expires before the last. */
CASE(redis_dead, holders_of_permits_are_forgotten)
{
	dlock_lock *theirs, *dead;
	dlock_hold *h = NULL;
	struct taker u = { 0 };

	set_up("ttl=600ms");
	dead = semaphore(dying, "s", 1);
	theirs = semaphore(last, "s", 1);
	for (int round = 0; round < 3; round++) {
		h = take(dead, patience_ms());
		u = (struct taker){ 0 };
		taker_queue(&u, last, theirs, FOREVER);
		cut_off(proxy);
		EVENTUALLY(u.done);
		CHECK_OK(u.rc);
		/* The permit, and two fields of the lock. */
		CHECK_INT(count("HLEN dlock:{sns}:i"), ==, 3);
		lab_proxy_heal(proxy);
		dlock_release(h);
		let_go(&u);
	}
}
