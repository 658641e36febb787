/* SPDX-License-Identifier: Apache-2.0 */
/* The server tells a holder's client that another client asks for the lock, and
 * holders of permits of a revoke. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "redis/support.h"

enum { SOON_MS = 5000, MANY = 20000, PERMITS = 1000 };

static struct lab_server *server;
static dlock_client *c;
static dlock_lock *l;

TestSuite(redis_wanted, .timeout = 120);

/* Without a message, the client keeps the claim for longer than SOON_MS. */
static void set_up(void)
{
	server = server_start(NULL);
	c = client_of(server->port, "keep=15s", NULL);
	l = mutex(c, "x");
}

static uint64_t kept(void)
{
	uint64_t token;
	dlock_hold *h = take(l, patience_ms());

	token = dlock_token(h);
	give(h);
	CHECK_INT(stats(c).kept, ==, 1);
	return token;
}

CASE(redis_wanted, is_told_to_the_client_that_keeps)
{
	int64_t begun;

	set_up();
	kept();
	begun = now_ms();
	give(take(elsewhere(server, NULL), patience_ms()));
	CHECK_INT(now_ms() - begun, <=, SOON_MS);
	CHECK_INT(stats(c).kept, ==, 0);
}

CASE(redis_wanted, is_known_of_an_earlier_waiter)
{
	struct taker t = { 0 };
	dlock_client *other;
	dlock_hold *h;
	int64_t begun;

	set_up();
	other = client_of(server->port, NULL, NULL);
	h = take(l, 0);
	taker_queue(&t, other, mutex(other, "x"), FOREVER);
	begun = now_ms();
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	CHECK_INT(t.done_ms - begun, <=, SOON_MS);
	let_go(&t);
}

/* A waiter of the client has the claim watched; a try of the client asks the
 * server; the next waiter waits for the claim, too. */
CASE(redis_wanted, is_not_told_of_the_clients_own_requests)
{
	struct taker first = { .linger = 1 }, next = { 0 }, a_try = { 0 };
	uint64_t attempts;
	dlock_hold *h;

	set_up();
	h = take(l, 0);
	taker_start(&first, l, FOREVER);
	EVENTUALLY(stats(c).waiters == 1);
	taker_start(&a_try, l, 0);
	CHECK_INT(taker_join(&a_try), ==, DLOCK_EBUSY);
	CHECK_INT(calls(server, "publish"), ==, 0);
	attempts = stats(c).attempts;
	taker_start(&next, l, FOREVER);
	EVENTUALLY(stats(c).waiters == 2);
	CHECK_INT(stats(c).attempts, ==, attempts);
	give(h);
	EVENTUALLY(first.done);
	let_go(&first);
	CHECK_OK(taker_join(&next));
	CHECK_INT(stats(c).passed, ==, 2);
}

/* The tokens may be ahead of the server's clock.  The server keeps the last
 * token until a second after that time, which the loop may take. */
CASE(redis_wanted, used_tokens_are_not_given_again)
{
	uint64_t first, last = 0;
	const char *reply;
	int64_t begun;
	dlock_hold *h;

	set_up();
	begun = now_ms();
	first = kept();
	for (int i = 0; i < MANY; i++)
		last = kept();
	CHECK_INT(last, ==, first + MANY);
	end_now(l);
	end_now(c);
	reply = server_do(server, "GET dlock:{lnx}");
	CHECK(strtoull(reply, NULL, 10) == last || now_ms() - begun >= 1000);
	h = take(elsewhere(server, NULL), patience_ms());
	CHECK(dlock_token(h) > last);
	give(h);
}

CASE(redis_wanted, tokens_that_were_set_aside_are_skipped_at_a_break)
{
	dlock_lock *other;
	uint64_t last;
	dlock_hold *h;

	set_up();
	last = kept();
	other = elsewhere(server, NULL);
	CHECK_OK(dlock_break(other, patience_ms()));
	EVENTUALLY(stats(c).kept == 0);
	h = take(other, patience_ms());
	CHECK(dlock_token(h) > last + 1000000);
	give(h);
}

/* The messages of that time are lost. */
CASE(redis_wanted, is_assumed_where_the_channel_was_away)
{
	set_up();
	kept();
	server_do(server, "CLIENT KILL TYPE pubsub");
	EVENTUALLY(stats(c).kept == 0);
	EVENTUALLY(stats(c).pending_cleanups == 0);
	give(take(l, patience_ms()));
}

/* ---- Permits ------------------------------------------------------------- */

static atomic_int told;

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	(void)hold;
	(void)why;
	(void)arg;
	told += event == DLOCK_WANTED;
}

/* A client holds all permits; no renewal is due soon. */
static void hold_permits(dlock_hold *hold[], int n)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	server = server_start(NULL);
	o.on_event = on_event;
	CHECK_OK(dlock_open(&c, uri_of(server->port, "ttl=1h&ask=2s"), &o));
	closed_at_end(c);
	l = semaphore(c, "s", (uint32_t)n);
	for (int i = 0; i < n; i++) {
		hold[i] = take(l, patience_ms());
		CHECK_OK(dlock_revocable(hold[i]));
	}
}

static void give_permits(dlock_hold *hold[], int n)
{
	for (int i = 0; i < n; i++)
		give(hold[i]);
}

CASE(redis_wanted, is_told_to_a_thousand_permits_by_one_script)
{
	static dlock_hold *hold[PERMITS];
	dlock_client *other;
	uint64_t before;

	hold_permits(hold, PERMITS);
	other = client_of(server->port, NULL, NULL);
	/* The server gets the text of the script. */
	CHECK_OK(dlock_revoke(mutex(other, "x"), patience_ms()));
	before = scripts_run(server);
	CHECK_OK(dlock_revoke(semaphore(other, "s", PERMITS), patience_ms()));
	EVENTUALLY(told == PERMITS);
	CHECK_INT(scripts_run(server) - before, ==, 1);
	CHECK_INT(calls(server, "publish"), ==, PERMITS);
	give_permits(hold, PERMITS);
}

CASE(redis_wanted, is_not_told_to_permits_of_a_waiter)
{
	struct taker t = { 0 };
	dlock_client *other;
	dlock_hold *hold[2];

	hold_permits(hold, 2);
	other = client_of(server->port, NULL, NULL);
	taker_queue(&t, other, semaphore(other, "s", 2), FOREVER);
	CHECK_INT(calls(server, "publish"), ==, 0);
	CHECK_OK(dlock_revocable(hold[0]));
	give(hold[1]);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	let_go(&t);
	CHECK_INT(told, ==, 0);
	give(hold[0]);
}

CASE(redis_wanted, is_assumed_of_permits_where_the_channel_was_away)
{
	dlock_hold *hold[2];

	hold_permits(hold, 2);
	server_do(server, "CLIENT KILL TYPE pubsub");
	EVENTUALLY(told == 2);
	give_permits(hold, 2);
}
