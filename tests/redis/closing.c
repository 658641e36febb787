/* SPDX-License-Identifier: Apache-2.0 */
/* Closing, while the notification channel opens, or with much to release. */
#include "support.h"

#include <criterion/criterion.h>
#include <dlock/async.h>
#include <stdio.h>
#include <stdlib.h>

#include "lab/base/fail.h"
#include "support/outcome.h"

TestSuite(redis_closing, .timeout = 120);

static struct lab_server *server;
static struct diary diary;

static void begin(void)
{
	server = server_start(NULL);
	diary = (struct diary)DIARY_INIT;
}

/* A client behind `port` with the notification channel up, after a wait. */
static dlock_client *notified_client(int port, const char *query)
{
	dlock_client *near = client_of(server->port, NULL, NULL);
	dlock_client *far = client_of(port, query, &diary);
	dlock_lock *theirs = mutex(near, "x"), *l = mutex(far, "x");
	dlock_hold *h = take(theirs, patience_ms()), *none = NULL;

	CHECK_RC(dlock_acquire(l, 0, &none), DLOCK_EBUSY);
	EVENTUALLY(connections(server) >= 3);
	give(h);
	end_now(l);
	end(near, theirs);
	return far;
}

static int64_t time_of_close(dlock_client *c)
{
	int64_t from = now_ms();

	end_now(c);
	return now_ms() - from;
}

static void accepted(struct lab_proxy *p, uint64_t n)
{
	if (lab_proxy_wait(p, LAB_ACCEPTED, n, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
}

/* The server accepts the connection and does not answer. */
static int64_t close_beside_a_silent_server(void)
{
	struct lab_proxy *p = proxy_of_case(server);
	dlock_client *c = notified_client(lab_proxy_port(p),
					  "close=30s&connect=30s");
	uint64_t before = lab_proxy_stat(p, LAB_ACCEPTED);
	int64_t took;

	lab_proxy_hole(p, LAB_DOWN, true);
	lab_proxy_reset(p);
	accepted(p, before + 1);
	took = time_of_close(c);
	end_now(p);
	return took;
}

CASE(redis_closing, does_not_wait_for_a_subscription)
{
	begin();
	CHECK_WITHIN(close_beside_a_silent_server(), 100 + slack_ms());
}

/* The client is closed while it waits for the server's first answer. */
CASE(redis_closing, ends_an_open_at_a_silent_server)
{
	struct outcome o = { 0 };
	dlock_client *c = NULL;
	struct lab_proxy *p;
	int64_t begun;
	char uri[80];

	begin();
	p = proxy_of_case(server);
	lab_proxy_hole(p, LAB_DOWN, true);
	snprintf(uri, sizeof(uri), "redis://127.0.0.1:%d/?connect=30s",
		 lab_proxy_port(p));
	CHECK_OK(dlock_open_start(uri, NULL, &c, outcome_note, &o));
	CHECK_INT(lab_proxy_wait(p, LAB_UP_BYTES, 1, patience_ms()), ==, 0);
	begun = now_ms();
	dlock_close(c);
	CHECK_INT(now_ms() - begun, <=, 500 + slack_ms());
	CHECK_INT(o.rc, ==, DLOCK_ECANCELED);
}

enum { HOLDS = 3000, ROUND_MS = 3 };

/* Count the held locks. */
static int held(void)
{
	return atoi(server_do(
		server,
		"EVAL \"local n = 0 for _, k in ipairs(redis.call('KEYS', "
		"'*{*')) do if string.match(redis.call('GET', k), '^[01] ') "
		"then n = n + 1 end end return n\" 0"));
}

/* In turn, the releases would take nine seconds instead of two. */
CASE(redis_closing, gives_up_thousands_of_holds)
{
	static dlock_lock *locks[HOLDS];
	static dlock_hold *holds[HOLDS];
	struct lab_proxy *p;
	dlock_client *c;
	int64_t took;

	begin();
	p = proxy_of_case(server);
	c = client_of(lab_proxy_port(p), "ttl=60s", &diary);
	for (int i = 0; i < HOLDS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "lock %d", i);
		locks[i] = mutex(c, name);
		holds[i] = take(locks[i], patience_ms());
	}
	CHECK_INT(held(), ==, HOLDS);
	lab_proxy_delay(p, LAB_DOWN, ROUND_MS);
	server_do(server, "SCRIPT FLUSH");
	/* The close begins on a new connection. */
	lab_proxy_reset(p);
	for (int i = 0; i < HOLDS; i++)
		end_now(locks[i]);
	took = time_of_close(c);
	CHECK_INT(held(), ==, 0);
	CHECK_INT(took, <, 2000);
	for (int i = 0; i < HOLDS; i++)
		CHECK_RC(dlock_release(holds[i]), DLOCK_ELOST);
	/* Each key has a token for a second: too many for the end's check. */
	EVENTUALLY(atoi(server_do(server, "DBSIZE")) <= 1);
}
