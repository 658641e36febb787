/* SPDX-License-Identifier: Apache-2.0 */
/* What the dead leave in the server while others live: nothing for long. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(redis_dead, .timeout = 120);

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *c, *dying, *last;
static dlock_lock *l, *ll; /* c's and last's */

static void set_up(const char *query)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	c = client_of(server->port, query, NULL);
	dying = client_of(lab_proxy_port(proxy), query, NULL);
	last = client_of(server->port, query, NULL);
	l = mutex(c, "x");
	ll = mutex(last, "x");
	warm_up(c);
}

static void tear_down(void)
{
	lab_proxy_heal(proxy);
	end(c, l);
	dlock_close(dying);
	end(last, ll);
	lab_proxy_free(proxy);
	server_end(server);
}

static void cut_off(void)
{
	lab_proxy_hole(proxy, LAB_UP, true);
	lab_proxy_hole(proxy, LAB_DOWN, true);
}

static void bury(struct taker *t, int n)
{
	lab_proxy_heal(proxy);
	for (int i = 0; i < n; i++) {
		dlock_cancel(t[i].lock);
		let_go(&t[i]);
	}
}

/* The answer to a command that counts. */
static long count(const char *command)
{
	return strtol(server_do(server, "%s", command), NULL, 10);
}

#define LINE "ZCARD dlock:{mnx}:q"

/* One holds, and one who lives waits. */
static dlock_hold *busy(struct taker *living)
{
	dlock_hold *h = take(l, 0);

	taker_start(living, last, ll, FOREVER, 1);
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

/* Nobody but the living can clear them away, while the lock stays taken; and
 * the first of the living is to look when the holder's lease ends. */
Test(redis_dead, waiters_leave_the_line_of_a_lock_that_stays_held)
{
	enum { DEAD = 6 };
	struct taker t[DEAD], u = { 0 };
	dlock_lock *dl;
	dlock_hold *h;

	set_up("ttl=1500ms");
	dl = mutex(dying, "x");
	memset(t, 0, sizeof(t));
	h = take(l, 0);
	for (int i = 0; i < DEAD; i++)
		taker_start(&t[i], dying, dl, FOREVER, 1);
	taker_start(&u, last, ll, FOREVER, 1);
	CHECK_INT(count(LINE), ==, DEAD + 1);
	cut_off();
	EVENTUALLY(count(LINE) == 1);
	CHECK_INT(count("HLEN dlock:{mnx}:i"), ==, 1);
	CHECK_OK(dlock_check(h));
	handed_on(h, &u);
	bury(t, DEAD);
	dlock_free(dl);
	tear_down();
}

/* Waiters that died long ago, in front of everybody. */
static void the_dead_come(int n)
{
	server_do(server,
		  "EVAL \"for i = 1, %d do "
		  "local w = string.format('%%032x', i) "
		  "redis.call('ZADD', KEYS[1], i, w) "
		  "redis.call('HSET', KEYS[2], w, "
		  "'W 1 f x 0 1 dlock:inbox:none 1 tail') end "
		  "return %d\" 2 dlock:{mnx}:q dlock:{mnx}:i",
		  n, n);
}

/* Who lives is found to be the first when it looks after 4 s, and looks when
 * the lease ends, not after 8. */
Test(redis_dead, waiters_keep_nobody_from_being_next)
{
	struct taker u = { 0 };
	dlock_client *holder;
	dlock_lock *held;
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=12s");
	holder = client_of(lab_proxy_port(proxy), "ttl=6s", NULL);
	held = mutex(holder, "x");
	begin = now_ms();
	h = take(held, 0);
	cut_off();
	taker_start(&u, last, ll, FOREVER, 1);
	the_dead_come(4);
	EVENTUALLY(u.done);
	CHECK_OK(u.rc);
	CHECK_INT(u.got_at - begin, <, 7500);
	let_go(&u);
	lab_proxy_heal(proxy);
	dlock_release(h);
	end(holder, held);
	tear_down();
}

Test(redis_dead, waiters_by_the_thousand_are_cleared_by_one_that_lives)
{
	struct taker u = { 0 };
	dlock_hold *h;

	set_up("ttl=900ms");
	h = busy(&u);
	the_dead_come(2000);
	EVENTUALLY(count(LINE) == 1);
	handed_on(h, &u);
	tear_down();
}

/* Not even if nobody looked since: the next look is not due for 20 s. */
Test(redis_dead, waiters_by_the_thousand_do_not_hold_up_a_release)
{
	struct taker u = { 0 };
	dlock_hold *h;

	set_up("ttl=60s");
	h = busy(&u);
	the_dead_come(8000);
	handed_on(h, &u);
	CHECK_INT(count("HLEN dlock:{mnx}:i"), ==, 0);
	tear_down();
}

/* It is the only one alive, and the lease of the dead holder ends before it has
 * looked a second time. */
Test(redis_dead, waiters_do_not_hide_one_who_comes_last)
{
	struct taker u = { 0 };
	dlock_client *holder;
	dlock_lock *held;
	dlock_hold *h, *next;
	int64_t begin;

	set_up("ttl=12s");
	/* Who has waited before can be told at once, and looks only once. */
	h = busy(&u);
	handed_on(h, &u);
	holder = client_of(lab_proxy_port(proxy), "ttl=3s", NULL);
	held = mutex(holder, "x");
	begin = now_ms();
	h = take(held, 0);
	cut_off();
	the_dead_come(4);
	next = take(ll, FOREVER);
	CHECK_INT(now_ms() - begin, <, 3900);
	give(next);
	lab_proxy_heal(proxy);
	dlock_release(h);
	end(holder, held);
	tear_down();
}

/* Readers that follow one another keep what is known of them, while the line
 * of the writers that died would have run out. */
Test(redis_dead, writers_are_forgotten_while_readers_go_on)
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
			taker_start(&t[i], dying, dead, FOREVER, 1);
		cut_off();
		nap_ms(900); /* nobody looks for longer than a line lasts */
		next = take_shared(round % 2 ? mine : theirs, patience_ms());
		/* The readers, and the lock's own. */
		CHECK_INT(count("HLEN dlock:{rnr}:i"), <=, 3);
		give(h);
		h = next;
		bury(t, DEAD);
	}
	give(h);
	dlock_free(mine);
	dlock_free(theirs);
	dlock_free(dead);
	tear_down();
}

/* All holders at once, so that nothing expires before the whole does. */
Test(redis_dead, holders_of_permits_are_forgotten)
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
		taker_start(&u, last, theirs, FOREVER, 1);
		cut_off();
		EVENTUALLY(u.done);
		CHECK_OK(u.rc);
		/* The permit's, and the lock's own. */
		CHECK_INT(count("HLEN dlock:{sns}:i"), ==, 2);
		lab_proxy_heal(proxy);
		dlock_release(h);
		let_go(&u);
	}
	dlock_free(dead);
	dlock_free(theirs);
	tear_down();
}
