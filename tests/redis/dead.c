/* SPDX-License-Identifier: Apache-2.0 */
/* Dead clients leave no entries in the server while other clients live. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(redis_dead, .timeout = 120);

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *c, *last;
static dlock_lock *l, *ll; /* c's and last's */

static void set_up(const char *query)
{
	server = two_start(query, NULL, &c, &last);
	proxy = proxy_of_case(server);
	healed_at_end(proxy);
	l = mutex(c, "x");
	ll = mutex(last, "x");
}

static long count(const char *command)
{
	return strtol(server_do(server, "%s", command), NULL, 10);
}

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
	lab_proxy_hole(proxy, LAB_UP, true);
	lab_proxy_hole(proxy, LAB_DOWN, true);
	the_dead_come(4);
	next = take(ll, FOREVER);
	CHECK_INT(now_ms() - begin, <, 3900);
	give(next);
	lab_proxy_heal(proxy);
	dlock_release(h);
}
