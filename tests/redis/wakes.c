/* SPDX-License-Identifier: Apache-2.0 */
/* Waking: one for one release, at no cost while there is none, and what
 * becomes of a wake that is lost, late, or not wanted any more. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/fail.h"

TestSuite(redis_wakes, .timeout = 120);

static struct lab_server *server;
static dlock_client *c;
static dlock_lock *l;

static void set_up(const char *query)
{
	server = server_start(NULL);
	c = client_of(server->port, query, NULL);
	l = mutex(c, "x");
	warm_up(c);
}

static void tear_down(void)
{
	end(c, l);
	server_end(server);
}

enum { CLIENTS = 3, EACH = 5, WAITERS = CLIENTS * EACH };

static dlock_client *clients[CLIENTS];
static dlock_lock *locks[CLIENTS];
static struct taker takers[WAITERS];

static void line_up(const char *query)
{
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = client_of(server->port, query, NULL);
		locks[i] = mutex(clients[i], "x");
	}
	/* From client to client, so that order is not that of one of them. */
	for (int i = 0; i < WAITERS; i++)
		taker_start(&takers[i], clients[i % CLIENTS],
			    locks[i % CLIENTS], FOREVER, 1);
}

static void go_home(void)
{
	for (int i = 0; i < CLIENTS; i++)
		end(clients[i], locks[i]);
}

static uint64_t wakes(void)
{
	uint64_t n = 0;

	for (int i = 0; i < CLIENTS; i++)
		n += stats_of(clients[i]).wakes;
	return n;
}

static int granted(void)
{
	int n = 0;

	for (int i = 0; i < WAITERS; i++)
		n += takers[i].done != 0;
	return n;
}

Test(redis_wakes, one_release_wakes_the_one_that_is_next)
{
	dlock_hold *h;
	uint64_t before;

	set_up("ttl=30s");
	h = take(l, 0);
	line_up("ttl=30s");
	before = wakes();
	give(h);
	for (int i = 0; i < WAITERS; i++) {
		EVENTUALLY(takers[i].done);
		CHECK_OK(takers[i].rc);
		CHECK_INT(granted(), ==, i + 1);
		CHECK(i == 0 || takers[i].token > takers[i - 1].token);
		CHECK_INT(wakes() - before, ==, i + 1);
		let_go(&takers[i]);
		CHECK_OK(takers[i].release_rc);
	}
	go_home();
	tear_down();
}

/* The lease is a short one, and must not be told as a long one; it is made a
 * whole one at once. */
Test(redis_wakes, what_is_granted_to_a_waiter_is_renewed)
{
	struct taker t = { 0 };
	dlock_hold *h;

	set_up("ttl=2s");
	h = take(l, 0);
	taker_start(&t, c, l, FOREVER, 1);
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.remaining_ms, <=, 2000);
	nap_ms(2500);
	CHECK_OK(dlock_check(t.hold));
	let_go(&t);
	CHECK_OK(t.release_rc);
	tear_down();
}

Test(redis_wakes, waiters_send_nothing_but_a_look_now_and_then)
{
	uint64_t before, others;
	dlock_hold *h;
	int64_t began, took;

	set_up("ttl=3s");
	h = take(l, 0);
	line_up("ttl=3s");
	before = scripts_run(server);
	others = calls(server, "ping") + calls(server, "subscribe");
	began = now_ms();
	nap_ms(2500);
	took = now_ms() - began;
	/* One a second each, and one renewal: by chance one more of each. */
	CHECK_INT(scripts_run(server) - before, <=,
		  (WAITERS + 1) * (took / 1000 + 1));
	CHECK_INT(scripts_run(server) - before, >=, WAITERS);
	CHECK_INT(calls(server, "ping") + calls(server, "subscribe") - others,
		  ==, 0);
	give(h);
	for (int i = 0; i < WAITERS; i++) {
		EVENTUALLY(takers[i].done);
		CHECK_OK(takers[i].rc);
		let_go(&takers[i]);
	}
	go_home();
	tear_down();
}

/* ---- Wakes that go astray ------------------------------------------------ */

Test(redis_wakes, one_that_is_lost_costs_no_more_than_a_look)
{
	struct lab_proxy *proxy;
	struct taker t = { 0 };
	dlock_client *far;
	dlock_lock *fl;
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=6s");
	proxy = proxy_start(server);
	far = client_of(lab_proxy_port(proxy), "ttl=6s", NULL);
	fl = mutex(far, "x");
	h = take(l, 0);
	taker_start(&t, far, fl, FOREVER, 1);
	lab_proxy_swallow(proxy, NULL, LAB_THEN_NOTHING);
	begin = now_ms();
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(lab_proxy_stat(proxy, LAB_SWALLOWED), ==, 1);
	CHECK_INT(t.got_at - begin, <=, 2000 + slack_ms());
	let_go(&t);
	CHECK_OK(t.release_rc);
	end(far, fl);
	lab_proxy_free(proxy);
	tear_down();
}

/* The owner who waits, and the channel of its client. */
static void publish(const char *message_format, unsigned int look)
{
	char owner[64], channel[128], key[256];
	const char *reply;

	snprintf(key, sizeof(key), "dlock:{mnx}:q");
	reply = server_do(server, "ZRANGE %s 0 0", key);
	CHECK(sscanf(reply, "*1\r\n$32\r\n%32s", owner) == 1);
	reply = server_do(server, "PUBSUB CHANNELS *");
	CHECK(sscanf(reply, "*1\r\n$%*d\r\n%127s", channel) == 1);
	reply = server_do(server, message_format, channel, owner, look);
	CHECK_TEXT(reply, "1");
}

Test(redis_wakes, one_for_an_earlier_look_is_not_believed)
{
	struct taker t = { 0 };
	dlock_hold *h;

	set_up("ttl=30s");
	h = take(l, 0);
	taker_start(&t, c, l, FOREVER, 1);
	/* Looks are counted from 1, and the inbox has made it look twice. */
	publish("PUBLISH %s \"%s %u 1234567890123456\"", 0);
	publish("PUBLISH %s \"%s %u 1234567890123456\"", 1);
	publish("PUBLISH %s \"%s %u 1234567890123456\"", 77);
	publish("PUBLISH %s \"%s %u\"", 2);
	publish("PUBLISH %s \"%s %u 1234567890123456 x\"", 2);
	ALL_ALONG(300, !t.done);
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK(t.token > UINT64_C(1234567890123456));
	let_go(&t);
	tear_down();
}

/* Granted before there was anybody to hear of it. */
Test(redis_wakes, one_before_the_inbox_is_open_is_not_missed)
{
	struct lab_proxy *proxy;
	struct taker t = { 0 };
	dlock_client *far;
	dlock_lock *fl;
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=60s");
	proxy = proxy_start(server);
	far = client_of(lab_proxy_port(proxy), "ttl=60s&close=10s", NULL);
	fl = mutex(far, "x");
	h = take(l, 0);
	lab_proxy_hold(proxy, "SUBSCRIBE");
	taker_start(&t, far, fl, FOREVER, 0);
	if (lab_proxy_wait(proxy, LAB_HELD, 1, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	give(h);
	begin = now_ms();
	lab_proxy_deliver(proxy);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.got_at - begin, <=, 5000);
	let_go(&t);
	end(far, fl);
	lab_proxy_free(proxy);
	tear_down();
}

/* The inbox is cut, and grants come meanwhile: found by looking again. */
Test(redis_wakes, one_while_the_inbox_is_away_is_found_soon)
{
	struct taker t = { 0 };
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=60s");
	for (int i = 0; i < 10; i++) {
		h = take(l, patience_ms());
		memset(&t, 0, sizeof(t));
		taker_start(&t, c, l, FOREVER, 1);
		begin = now_ms();
		server_do(server, "CLIENT KILL TYPE pubsub");
		give(h);
		EVENTUALLY(t.done);
		CHECK_OK(t.rc);
		CHECK_INT(t.got_at - begin, <=, 5000);
		let_go(&t);
	}
	tear_down();
}

/* Each inbox asks when it has heard nothing for long; one is not answered. */
Test(redis_wakes, are_heard_anew_where_the_inbox_has_gone_silent)
{
	struct lab_proxy *proxy;
	struct taker t = { 0 }, u = { 0 };
	dlock_client *far;
	dlock_lock *fl;
	dlock_hold *h;
	uint64_t before, asked;

	set_up("ttl=60s");
	proxy = proxy_start(server);
	far = client_of(lab_proxy_port(proxy), "ttl=60s", NULL);
	fl = mutex(far, "x");
	h = take(l, 0);
	taker_start(&t, c, l, FOREVER, 1);
	taker_start(&u, far, fl, FOREVER, 1);
	before = calls(server, "subscribe");
	asked = calls(server, "ping");
	lab_proxy_hold(proxy, "PING");
	if (lab_proxy_wait(proxy, LAB_HELD, 1, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	EVENTUALLY(calls(server, "subscribe") > before);
	EVENTUALLY(calls(server, "ping") > asked + 1);
	CHECK_INT(calls(server, "subscribe"), ==, before + 1);
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	let_go(&t);
	EVENTUALLY(u.done);
	CHECK_OK(u.rc);
	let_go(&u);
	end(far, fl);
	lab_proxy_free(proxy);
	tear_down();
}

/* ---- Wakes that nobody wants --------------------------------------------- */

enum { ROUNDS = 60 };

/* B gives up at the very moment when the lock comes to it: C gets it at once,
 * and not when B's lease has run out. */
static void gives_up_in_time(int cancel, uint32_t permits, const char *query)
{
	dlock_client *b, *d;
	dlock_lock *bl, *dl;
	unsigned int seed = 1;
	int got = 0;

	set_up(query);
	b = client_of(server->port, query, NULL);
	d = client_of(server->port, query, NULL);
	bl = permits ? semaphore(b, "x", permits) : mutex(b, "x");
	dl = permits ? semaphore(d, "x", permits) : mutex(d, "x");
	if (permits) {
		dlock_free(l);
		l = semaphore(c, "x", permits);
	}
	for (int i = 0; i < ROUNDS; i++) {
		dlock_hold *h = take(l, patience_ms());
		struct taker tb = { .leave = 1 }, td = { 0 };
		struct timespec ts = { 0, rand_r(&seed) % 400000 };

		taker_start(&tb, b, bl, cancel ? FOREVER : 20, 1);
		taker_start(&td, d, dl, FOREVER, 1);
		if (cancel) {
			if (i % 2)
				dlock_cancel(bl);
			give(h);
			nanosleep(&ts, NULL);
			dlock_cancel(bl);
		} else {
			nap_ms(rand_r(&seed) % 22);
			give(h);
		}
		EVENTUALLY(td.done);
		CHECK_OK(td.rc);
		let_go(&td);
		let_go(&tb);
		CHECK(tb.rc == DLOCK_OK ||
		      tb.rc == (cancel ? DLOCK_ECANCELED : DLOCK_EBUSY));
		got += tb.rc == DLOCK_OK;
	}
	CHECK_INT(got, <, ROUNDS);
	end(b, bl);
	end(d, dl);
	tear_down();
}

Test(redis_wakes, of_one_that_is_cancelled_goes_to_the_next)
{
	gives_up_in_time(1, 0, "ttl=60s");
}

Test(redis_wakes, of_one_whose_time_is_up_goes_to_the_next)
{
	gives_up_in_time(0, 0, "ttl=60s");
}

Test(redis_wakes, of_one_that_gives_up_a_permit_goes_to_the_next)
{
	gives_up_in_time(1, 1, "ttl=60s");
}

Test(redis_wakes, of_one_that_gives_up_goes_on_where_order_is_any)
{
	gives_up_in_time(1, 0, "ttl=60s&order=any");
}
