/* SPDX-License-Identifier: Apache-2.0 */
/* Opening takes no longer than it may, however far the server lets us come:
 * user, database and name are sent before the first answer is needed. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "support/cancel.h"

TestSuite(redis_silence, .timeout = 120);

enum { CONNECT_MS = 300 };

static struct lab_server *server;
static struct lab_proxy *proxy;

static int64_t time_of_open(void)
{
	int64_t begin = now_ms();
	dlock_client *c = NULL;
	char uri[160];

	snprintf(uri, sizeof(uri),
		 "redis://:sesame@127.0.0.1:%d/3?connect=300ms&client_name=me",
		 lab_proxy_port(proxy));
	CHECK_RC(dlock_open(&c, uri, NULL), DLOCK_EUNREACHABLE);
	CHECK_TEXT(dlock_errmsg(), "127.0.0.1");
	return now_ms() - begin;
}

static void drip(void)
{
	lab_proxy_drip(proxy, LAB_DOWN, 60);
}

static void swallow(void)
{
	lab_proxy_hole(proxy, LAB_DOWN, true);
}

static void deaf(void)
{
	lab_proxy_hole(proxy, LAB_UP, true);
}

/* After so many bytes, which are a part of the first answers. */
static void cut(void)
{
	lab_proxy_drip(proxy, LAB_DOWN, 60);
	lab_proxy_cut(proxy, LAB_DOWN, 3);
}

CASE(redis_silence, does_not_keep_us_from_giving_up_to_open)
{
	static void (*const faults[])(void) = { drip, swallow, deaf, cut };
	struct lab_redis_options o = { .password = "sesame" };
	dlock_client *c = NULL;
	char uri[160];

	server = server_start(&o);
	proxy = proxy_start(server);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		faults[i]();
		CHECK_WITHIN(time_of_open(), CONNECT_MS + 50 + slack_ms());
		lab_proxy_heal(proxy);
	}
	snprintf(uri, sizeof(uri), "redis://:sesame@127.0.0.1:%d/3",
		 lab_proxy_port(proxy));
	CHECK_OK(dlock_open(&c, uri, NULL));
	warm_up(c);
}

static void freeze(void *s)
{
	lab_server_pause(s);
}

static int64_t cancel_parked(dlock_client *c, dlock_lock *l)
{
	int64_t ms = cancel_parked_ms(c, l, freeze, server);

	lab_server_resume(server);
	return ms;
}

/* A cancelled wait takes no longer than `ask`, whatever is under way. */
CASE(redis_silence, does_not_hold_a_wait_that_is_cancelled)
{
	const char *query = "ttl=30s&ask=40ms&connect=5s&close=5s";
	dlock_client *a, *b;
	dlock_lock *held, *l;
	dlock_hold *h;

	server = server_start(NULL);
	a = client_of(server->port, "ttl=30s", NULL);
	b = client_of(server->port, query, NULL);
	held = mutex(a, "lock");
	l = mutex(b, "lock");
	h = take(held, FOREVER);
	CHECK_WITHIN(cancel_parked(b, l), 40 + slack_ms());
	lab_server_pause(server);
	CHECK_WITHIN(cancel_wait_ms(b, l), 40 + slack_ms());
	lab_server_resume(server);
	give(h);
}
