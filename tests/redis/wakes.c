/* SPDX-License-Identifier: Apache-2.0 */
/* Wakes that are lost, late, or for a waiter that gives up. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- Wakes that go astray ------------------------------------------------ */

CASE(redis_wakes, a_lost_wake_costs_no_more_than_an_attempt)
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

/* Send a message for the waiter to the channel of the waiter's client. */
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

CASE(redis_wakes, a_wake_of_an_earlier_attempt_is_void)
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

CASE(redis_wakes, a_wake_before_the_channel_is_open_is_not_missed)
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

/* Attempts find grants made while the channel was cut. */
CASE(redis_wakes, a_wake_while_the_channel_is_away_is_found_soon)
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

/* A quiet channel sends a PING; the server does not answer the first PING. */
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

/* ---- Wakes of waiters that give up --------------------------------------- */

enum { ROUNDS = 60 };

/* B is cancelled at the moment of the grant: D gets the lock at once, and not
 * when B's lease is over. */
CASE(redis_wakes, of_a_cancelled_waiter_goes_to_the_next)
{
	dlock_client *b, *d;
	dlock_lock *bl, *dl;
	unsigned int seed = 1;
	int got = 0;

	set_up("ttl=60s");
	b = client_of(server->port, "ttl=60s", NULL);
	d = client_of(server->port, "ttl=60s", NULL);
	bl = mutex(b, "x");
	dl = mutex(d, "x");
	for (int i = 0; i < ROUNDS; i++) {
		dlock_hold *h = take(l, patience_ms());
		struct taker tb = { 0 }, td = { 0 };

		taker_queue(&tb, b, bl, FOREVER);
		tb.linger = 0;
		taker_queue(&td, d, dl, FOREVER);
		if (i % 2)
			dlock_cancel(bl);
		give(h);
		nap_us(rand_r(&seed) % 400);
		dlock_cancel(bl);
		EVENTUALLY(td.done);
		CHECK_OK(td.rc);
		let_go(&td);
		let_go(&tb);
		CHECK(tb.rc == DLOCK_OK || tb.rc == DLOCK_ECANCELED);
		got += tb.rc == DLOCK_OK;
	}
	CHECK_INT(got, <, ROUNDS);
}
