/* SPDX-License-Identifier: Apache-2.0 */
/* A break that the server hears twice, because an answer was lost: it must not
 * hit who came to hold the lock by the first. */
#include "support.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "lab/base/fail.h"

TestSuite(redis_broken, .timeout = 120);

enum { HOLDERS = 2, TIMES = 2 };

static struct lab_server *server;
static struct lab_proxy *proxy;
static struct diary diary = DIARY_INIT;
/* The breaker's connections lead through the proxy. */
static dlock_client *holder, *waiter, *breaker;

static void set_up(void)
{
	server = server_start(NULL);
	proxy = proxy_start(server);
	holder = client_of(server->port, "ttl=900ms", NULL);
	waiter = client_of(server->port, "ttl=900ms", &diary);
	breaker = client_of(lab_proxy_port(proxy), "ttl=900ms", NULL);
	warm_up(breaker);
}

/* The client that got the lock by the break still has it after a renewal. */
static void stays_with(struct taker *t, uint64_t token)
{
	uint64_t renewed;

	EVENTUALLY(t->done);
	CHECK_OK(t->rc);
	CHECK(t->token > token);
	renewed = stats(waiter).renewed;
	EVENTUALLY(diary.losses > 0 || stats(waiter).renewed >= renewed + 2);
	CHECK_INT(diary.losses, ==, 0);
	let_go(t);
	CHECK_OK(t->release_rc);
}

/* The answer to a request with `match` in it is lost, and the connection. */
static void break_without_answer(dlock_lock *l, const char *match, uint64_t n)
{
	lab_proxy_swallow(proxy, match, LAB_THEN_CLOSE);
	CHECK_OK(dlock_break(l, patience_ms()));
	if (lab_proxy_wait(proxy, LAB_SWALLOWED, n, patience_ms()) < 0)
		FAIL("%s", lab_errmsg());
}

CASE(redis_broken, twice_is_broken_once)
{
	dlock_lock *held, *waited, *broken;

	set_up();
	held = mutex(holder, "x");
	waited = mutex(waiter, "x");
	broken = mutex(breaker, "x");
	/* The server knows the scripts. */
	CHECK_OK(dlock_break(broken, patience_ms()));
	for (uint64_t i = 0; i < TIMES; i++) {
		dlock_hold *h = take(held, patience_ms());
		struct taker t = { 0 };
		char match[32];

		/* Either of its two requests: the last one names the token. */
		snprintf(match, sizeof(match), "%" PRIu64, dlock_token(h));
		taker_queue(&t, waiter, waited, FOREVER);
		break_without_answer(broken, i ? match : "EVALSHA", i + 1);
		stays_with(&t, dlock_token(h));
		EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
		CHECK_RC(dlock_release(h), DLOCK_ELOST);
	}
}

/* The same for those who share it. */
CASE(redis_broken, twice_is_broken_once_where_it_is_shared)
{
	dlock_lock *held, *waited, *broken;

	set_up();
	held = semaphore(holder, "s", HOLDERS);
	waited = semaphore(waiter, "s", HOLDERS);
	broken = semaphore(breaker, "s", HOLDERS);
	CHECK_OK(dlock_break(broken, patience_ms()));
	for (uint64_t i = 0; i < TIMES; i++) {
		dlock_hold *h[HOLDERS];
		struct taker t[HOLDERS] = { 0 };
		char match[32];

		for (int k = 0; k < HOLDERS; k++)
			h[k] = take(held, patience_ms());
		snprintf(match, sizeof(match), "%" PRIu64, dlock_token(h[1]));
		for (int k = 0; k < HOLDERS; k++)
			taker_queue(&t[k], waiter, waited, FOREVER);
		break_without_answer(broken, i ? match : "EVALSHA", i + 1);
		for (int k = 0; k < HOLDERS; k++)
			stays_with(&t[k], dlock_token(h[1]));
		for (int k = 0; k < HOLDERS; k++) {
			EVENTUALLY(dlock_check(h[k]) == DLOCK_ELOST);
			CHECK_RC(dlock_release(h[k]), DLOCK_ELOST);
		}
	}
}

/* What is not ours has no token: it is removed, and what comes then stays. */
CASE(redis_broken, twice_removes_what_is_foreign_once)
{
	dlock_lock *waited, *broken;
	struct taker t = { 0 };

	set_up();
	waited = mutex(waiter, "x");
	broken = mutex(breaker, "x");
	CHECK_OK(dlock_break(broken, patience_ms()));
	server_do(server, "SET dlock:{lnx} junk PX 60000");
	taker_queue(&t, waiter, waited, FOREVER);
	break_without_answer(broken, "0000000000000000", 1);
	stays_with(&t, 0);
}
