/* SPDX-License-Identifier: Apache-2.0 */
/* Waking: one for one release, at no cost while there is none, and what
 * becomes of a wake that is lost, late, or no longer wanted. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lab/base/fail.h"

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

enum { CLIENTS = 3, EACH = 5, WAITERS = CLIENTS * EACH };

static dlock_client *clients[CLIENTS];
static dlock_lock *locks[CLIENTS];
static struct taker takers[WAITERS];

static void queue_takers(const char *query)
{
	for (int i = 0; i < CLIENTS; i++) {
		clients[i] = client_of(server->port, query, NULL);
		locks[i] = mutex(clients[i], "x");
	}
	/* From client to client, so that order is not that of one of them. */
	for (int i = 0; i < WAITERS; i++)
		taker_queue(&takers[i], clients[i % CLIENTS],
			    locks[i % CLIENTS], FOREVER);
}

static uint64_t wakes(void)
{
	uint64_t n = 0;

	for (int i = 0; i < CLIENTS; i++)
		n += stats(clients[i]).wakes;
	return n;
}

static int granted(void)
{
	int n = 0;

	for (int i = 0; i < WAITERS; i++)
		n += takers[i].done != 0;
	return n;
}

CASE(redis_wakes, one_release_wakes_the_one_that_is_next)
{
	dlock_hold *h;
	uint64_t before;

	set_up("ttl=30s");
	h = take(l, 0);
	queue_takers("ttl=30s");
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
}

/* The lease is a short one, and must not be told as a long one; it is made a
 * whole one at once. */
CASE(redis_wakes, what_is_granted_to_a_waiter_is_renewed)
{
	struct taker t = { 0 };
	dlock_hold *h;
	uint64_t renewed;

	set_up("ttl=2s");
	h = take(elsewhere(server, NULL), 0);
	taker_queue(&t, c, l, FOREVER);
	renewed = stats(c).renewed;
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.remaining_ms, <=, 2000);
	/* Once at once, and then each third of a lease, beyond its end. */
	EVENTUALLY(stats(c).renewed > renewed + 3 &&
		   now_ms() - t.done_ms > dlock_ttl_ms(c) * 5 / 4);
	CHECK_OK(dlock_check(t.hold));
	let_go(&t);
	CHECK_OK(t.release_rc);
}

CASE(redis_wakes, waiters_send_nothing_but_an_attempt_now_and_then)
{
	uint64_t before, others;
	dlock_hold *h;
	int64_t began, took, third_ms;

	set_up("ttl=3s");
	h = take(l, 0);
	queue_takers("ttl=3s");
	before = scripts_run(server);
	others = calls(server, "ping") + calls(server, "subscribe");
	/* Attempts and renewals come each third of a lease.  The window ends
	 * between two. */
	third_ms = dlock_ttl_ms(c) / 3;
	began = now_ms();
	nap_ms(third_ms * 5 / 2);
	took = now_ms() - began;
	/* One of each waiter, and one renewal: by chance one more of each. */
	CHECK_INT(scripts_run(server) - before, <=,
		  (WAITERS + 1) * (took / third_ms + 1));
	CHECK_INT(scripts_run(server) - before, >=, WAITERS);
	CHECK_INT(calls(server, "ping") + calls(server, "subscribe") - others,
		  ==, 0);
	give(h);
	for (int i = 0; i < WAITERS; i++) {
		EVENTUALLY(takers[i].done);
		CHECK_OK(takers[i].rc);
		let_go(&takers[i]);
	}
}

/* ---- Wakes that go astray ------------------------------------------------ */

CASE(redis_wakes, one_that_is_lost_costs_no_more_than_an_attempt)
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
	taker_queue(&t, far, fl, FOREVER);
	lab_proxy_swallow(proxy, NULL, LAB_THEN_NOTHING);
	begin = now_ms();
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(lab_proxy_stat(proxy, LAB_SWALLOWED), ==, 1);
	CHECK_INT(t.done_ms - begin, <=, 2000 + slack_ms());
	let_go(&t);
	CHECK_OK(t.release_rc);
}

/* The owner who waits, and the channel of its client. */
static void publish(const char *message_format, unsigned int attempt)
{
	char owner[64], channel[128], key[256];
	const char *reply;

	snprintf(key, sizeof(key), "dlock:{lnx}:q");
	reply = server_do(server, "ZRANGE %s 0 0", key);
	CHECK(sscanf(reply, "*1\r\n$32\r\n%32s", owner) == 1);
	reply = server_do(server, "PUBSUB CHANNELS *");
	CHECK(sscanf(reply, "*1\r\n$%*d\r\n%127s", channel) == 1);
	reply = server_do(server, message_format, channel, owner, attempt);
	CHECK_TEXT(reply, "1");
}

CASE(redis_wakes, one_for_an_earlier_attempt_is_not_believed)
{
	struct taker t = { 0 };
	dlock_hold *h;

	set_up("ttl=30s");
	h = take(elsewhere(server, NULL), 0);
	taker_queue(&t, c, l, FOREVER);
	/* Attempts count from 1, and opening the channel took a second one. */
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
}

/* Granted before there was anybody to hear of it. */
CASE(redis_wakes, one_before_the_channel_is_open_is_not_missed)
{
	struct lab_proxy *proxy;
	struct taker t = { .linger = 1 };
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
	taker_start(&t, fl, FOREVER);
	if (lab_proxy_wait(proxy, LAB_HELD, 1, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
	give(h);
	begin = now_ms();
	lab_proxy_deliver(proxy);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.done_ms - begin, <=, 5000);
	let_go(&t);
}

/* The channel is cut, and grants come meanwhile.  Attempts find them. */
CASE(redis_wakes, one_while_the_channel_is_away_is_found_soon)
{
	struct taker t = { 0 };
	dlock_lock *other;
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=60s");
	other = elsewhere(server, NULL);
	for (int i = 0; i < 10; i++) {
		h = take(other, patience_ms());
		memset(&t, 0, sizeof(t));
		taker_queue(&t, c, l, FOREVER);
		begin = now_ms();
		server_do(server, "CLIENT KILL TYPE pubsub");
		give(h);
		EVENTUALLY(t.done);
		CHECK_OK(t.rc);
		CHECK_INT(t.done_ms - begin, <=, 5000);
		let_go(&t);
	}
}

/* Each channel's connection sends a PING when nothing came for long; one is not
 * answered. */
CASE(redis_wakes, are_heard_anew_where_the_channel_has_gone_silent)
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
	h = take(elsewhere(server, NULL), 0);
	taker_queue(&t, c, l, FOREVER);
	taker_queue(&u, far, fl, FOREVER);
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
}

/* The waiter's attempt is almost a third of a lease old, which is when the next
 * one is due.  Only a fifth of a lease would be left. */
CASE(redis_wakes, with_little_left_bring_a_whole_lease)
{
	struct taker t = { 0 };
	dlock_hold *h;

	set_up("ttl=6s");
	h = take(elsewhere(server, NULL), 0);
	taker_queue(&t, c, l, FOREVER);
	nap_ms(dlock_ttl_ms(c) / 3 * 7 / 8);
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.remaining_ms, >=, 6000 / 4);
	let_go(&t);
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
		end_now(l);
		l = semaphore(c, "x", permits);
	}
	for (int i = 0; i < ROUNDS; i++) {
		dlock_hold *h = take(l, patience_ms());
		struct taker tb = { 0 }, td = { 0 };
		int64_t late_us = rand_r(&seed) % 400;

		taker_queue(&tb, b, bl, cancel ? FOREVER : 20);
		tb.linger = 0;
		taker_queue(&td, d, dl, FOREVER);
		if (cancel) {
			if (i % 2)
				dlock_cancel(bl);
			give(h);
			nap_us(late_us);
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
}

CASE(redis_wakes, of_one_that_is_cancelled_goes_to_the_next)
{
	gives_up_in_time(1, 0, "ttl=60s");
}

CASE(redis_wakes, of_one_whose_time_is_up_goes_to_the_next)
{
	gives_up_in_time(0, 0, "ttl=60s");
}

CASE(redis_wakes, of_one_that_gives_up_a_permit_goes_to_the_next)
{
	gives_up_in_time(1, 1, "ttl=60s");
}

CASE(redis_wakes, of_one_that_gives_up_goes_on_where_order_is_any)
{
	gives_up_in_time(1, 0, "ttl=60s&order=any");
}
