/* SPDX-License-Identifier: Apache-2.0 */
/* Wakes that are lost or late. */
#include "support.h"

#include <criterion/criterion.h>
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

CASE(redis_wakes, a_lost_wake_costs_no_more_than_an_attempt)
{
	struct lab_proxy *proxy;
	struct taker t = { 0 };
	dlock_client *far;
	dlock_lock *fl;
	dlock_hold *h;
	int64_t begin;

	set_up("ttl=6s");
	proxy = proxy_of_case(server);
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
	proxy = proxy_of_case(server);
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
