/* SPDX-License-Identifier: Apache-2.0 */
/* The line of waiters: who is next, and what the dead in it cost. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(redis_line, .timeout = 120);

static struct lab_server *server;
static struct lab_proxy *proxy;
static dlock_client *c, *dying, *last;
static dlock_lock *l, *dl, *ll;

/* One who holds, one who will be cut off, one who waits behind. */
static void set_up(const char *query)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	c = client_of(server->port, query, NULL);
	dying = client_of(lab_proxy_port(proxy), query, NULL);
	last = client_of(server->port, query, NULL);
	l = mutex(c, "x");
	dl = mutex(dying, "x");
	ll = mutex(last, "x");
	warm_up(c);
}

static void tear_down(void)
{
	lab_proxy_heal(proxy);
	end(c, l);
	end(dying, dl);
	end(last, ll);
	lab_proxy_free(proxy);
	server_end(server);
}

static void cut_off(void)
{
	lab_proxy_hole(proxy, LAB_UP, true);
	lab_proxy_hole(proxy, LAB_DOWN, true);
}

static void bury(struct taker *t)
{
	lab_proxy_heal(proxy);
	dlock_cancel(t->lock);
	let_go(t);
}

/* `dies_early`: the dead one has not looked for longer than it may. */
static void dead_one_costs(int dies_early, int64_t most_ms)
{
	struct taker t = { 0 }, u = { 0 };
	dlock_hold *h;
	int64_t begin;

	h = take(l, 0);
	taker_start(&t, dying, dl, FOREVER, 1);
	taker_start(&u, last, ll, FOREVER, 1);
	cut_off();
	if (dies_early)
		nap_ms(2400);
	begin = now_ms();
	give(h);
	EVENTUALLY(u.done);
	CHECK_OK(u.rc);
	CHECK_INT(u.got_at - begin, <=, most_ms);
	let_go(&u);
	bury(&t);
}

Test(redis_line, next_that_just_died_costs_half_a_lease)
{
	set_up("ttl=4s");
	dead_one_costs(0, 2000 + 2 * slack_ms());
	tear_down();
}

Test(redis_line, next_that_just_died_costs_as_much_where_order_is_any)
{
	set_up("ttl=4s&order=any");
	dead_one_costs(0, 2000 + 2 * slack_ms());
	tear_down();
}

Test(redis_line, next_that_is_long_dead_is_passed_over)
{
	set_up("ttl=4s");
	dead_one_costs(1, 1000);
	tear_down();
}

/* The holder died, and its key has expired: whoever comes now finds a line. */
Test(redis_line, is_not_jumped_by_who_comes_later)
{
	struct taker t = { 0 };
	dlock_hold *h, *none = NULL;

	set_up("ttl=30s");
	h = take(l, 0);
	taker_start(&t, dying, dl, FOREVER, 1);
	server_do(server, "DEL dlock:{mnx}");
	CHECK_RC(dlock_acquire(ll, 0, &none), DLOCK_EBUSY);
	/* And has told the one whose turn it is. */
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	let_go(&t);
	dlock_release(h);
	tear_down();
}

static void *jump(void *arg)
{
	atomic_int *stop = arg;
	dlock_hold *h;

	while (!*stop) {
		if (dlock_acquire(ll, 0, &h) == DLOCK_OK)
			dlock_release(h);
	}
	return NULL;
}

/* Someone tries all the time; those who wait get it all the same, in order. */
Test(redis_line, goes_on_under_one_who_tries_all_the_time)
{
	struct taker t[8];
	atomic_int stop = 0;
	pthread_t thread;
	dlock_hold *h;

	set_up("ttl=30s");
	memset(t, 0, sizeof(t));
	h = take(l, 0);
	for (int i = 0; i < 8; i++)
		taker_start(&t[i], dying, dl, FOREVER, 1);
	CHECK(pthread_create(&thread, NULL, jump, &stop) == 0);
	give(h);
	for (int i = 0; i < 8; i++) {
		EVENTUALLY(t[i].done);
		CHECK_OK(t[i].rc);
		CHECK(i == 0 || t[i].token > t[i - 1].token);
		let_go(&t[i]);
	}
	stop = 1;
	CHECK(pthread_join(thread, NULL) == 0);
	tear_down();
}

Test(redis_line, lets_readers_in_together_and_writers_between)
{
	struct taker r[4], w = { 0 }, late = { .shared = 1 };
	dlock_lock *mine, *theirs;
	dlock_hold *h;

	set_up("ttl=30s");
	memset(r, 0, sizeof(r));
	mine = rwlock(c, "r");
	theirs = rwlock(last, "r");
	h = take(mine, 0);
	for (int i = 0; i < 4; i++) {
		r[i].shared = 1;
		taker_start(&r[i], i % 2 ? c : last, i % 2 ? mine : theirs,
			    FOREVER, 1);
	}
	taker_start(&w, last, theirs, FOREVER, 1);
	taker_start(&late, c, mine, FOREVER, 1);
	give(h);
	for (int i = 0; i < 4; i++) {
		EVENTUALLY(r[i].done);
		CHECK_OK(r[i].rc);
	}
	ALL_ALONG(100, !w.done && !late.done);
	for (int i = 0; i < 4; i++)
		let_go(&r[i]);
	EVENTUALLY(w.done);
	CHECK_OK(w.rc);
	ALL_ALONG(50, !late.done);
	let_go(&w);
	EVENTUALLY(late.done);
	CHECK_OK(late.rc);
	CHECK(late.token > w.token);
	let_go(&late);
	dlock_free(mine);
	dlock_free(theirs);
	tear_down();
}

/* It would have no end of readers before it. */
Test(redis_line, is_one_for_readers_and_writers_also_where_order_is_any)
{
	struct taker w = { 0 }, r = { .shared = 1 };
	dlock_lock *mine, *writers, *behind;
	dlock_hold *h, *none = NULL;

	set_up("ttl=10s&order=any");
	mine = rwlock(c, "r");
	writers = rwlock(dying, "r");
	behind = rwlock(last, "r");
	h = take_shared(mine, 0);
	taker_start(&w, dying, writers, FOREVER, 1);
	taker_start(&r, last, behind, FOREVER, 1);
	cut_off();
	give(h);
	CHECK_RC(dlock_acquire_shared(mine, 0, &none), DLOCK_EBUSY);
	CHECK(!r.done);
	lab_proxy_heal(proxy);
	EVENTUALLY(w.done);
	CHECK_OK(w.rc);
	CHECK(!r.done);
	let_go(&w);
	EVENTUALLY(r.done);
	CHECK_OK(r.rc);
	let_go(&r);
	dlock_free(mine);
	dlock_free(writers);
	dlock_free(behind);
	tear_down();
}

/* The order is each client's own affair.  The one that was woken may come, or
 * not; those in order are not told that something is wrong. */
Test(redis_line, may_be_kept_by_some_and_not_by_others)
{
	dlock_client *any;
	dlock_lock *mine, *woken, *theirs;
	dlock_hold *h;
	struct taker t = { 0 };

	set_up("ttl=30s");
	any = client_of(lab_proxy_port(proxy), "ttl=30s&order=any", NULL);
	mine = semaphore(c, "s", 1);
	woken = semaphore(any, "s", 1);
	theirs = semaphore(last, "s", 1);
	h = take(mine, 0);
	taker_start(&t, any, woken, FOREVER, 1);
	cut_off();
	server_do(server, "DEL dlock:{sns}:s"); /* as if the holder had died */
	give(take(theirs, patience_ms()));
	dlock_release(h);
	lab_proxy_heal(proxy);
	dlock_cancel(woken);
	let_go(&t);
	dlock_free(mine);
	dlock_free(theirs);
	end(any, woken);
	tear_down();
}

/* Quickest wins: nobody stands in line, and nobody is forgotten. */
Test(redis_line, is_none_where_order_is_any)
{
	struct taker t[6];
	dlock_hold *h;
	int done = 0;

	set_up("ttl=3s&order=any");
	CHECK(!(dlock_caps(c) & DLOCK_CAP_FAIR));
	memset(t, 0, sizeof(t));
	h = take(l, 0);
	for (int i = 0; i < 6; i++)
		taker_start(&t[i], i % 2 ? dying : last, i % 2 ? dl : ll,
			    FOREVER, 1);
	give(h);
	while (done < 6) {
		for (int i = 0; i < 6; i++) {
			if (!t[i].done || t[i].leave)
				continue;
			CHECK_OK(t[i].rc);
			let_go(&t[i]);
			done++;
		}
		nap_ms(1);
	}
	tear_down();
}

/* ---- Many threads, few connections --------------------------------------- */

enum { THREADS = 64, TIMES = 20 };

static void *use_own_lock(void *arg)
{
	char name[32];
	dlock_lock *own;

	snprintf(name, sizeof(name), "own %p", arg);
	own = mutex(c, name);
	for (int i = 0; i < TIMES; i++)
		give(take(own, patience_ms()));
	dlock_free(own);
	return NULL;
}

Test(redis_line, for_connections_serves_many_threads)
{
	static pthread_t threads[THREADS];
	static char which[THREADS];

	set_up("pool=2&ask=20s");
	for (int i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, use_own_lock,
				      &which[i]));
	for (int i = 0; i < 5; i++) {
		/* Two, and one each of the other clients. */
		CHECK_INT(connections(server), <=, 4);
		nap_ms(5);
	}
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK_INT(stats_of(c).granted, ==, THREADS * TIMES + 1);
	tear_down();
}
