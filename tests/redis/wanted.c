/* SPDX-License-Identifier: Apache-2.0 */
/* A client that keeps a lock until another client asks, or holds a revocable
 * permit.  tests/sim/cases shows whom the server tells. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "redis/support.h"

enum { MANY = 20000 };

static struct lab_server *server;
static dlock_client *c;
static dlock_lock *l;

TestSuite(redis_wanted, .timeout = 120);

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
	h = take(mutex(client_of(server->port, NULL, NULL), "x"),
		 patience_ms());
	CHECK(dlock_token(h) > last);
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

/* No renewal is due soon. */
CASE(redis_wanted, is_assumed_of_permits_where_the_channel_was_away)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_hold *hold[2];

	server = server_start(NULL);
	o.on_event = on_event;
	c = client_of_case(uri_of(server->port, "ttl=1h&ask=2s"), &o);
	l = semaphore(c, "s", 2);
	for (int i = 0; i < 2; i++) {
		hold[i] = take(l, patience_ms());
		CHECK_OK(dlock_revocable(hold[i]));
	}
	server_do(server, "CLIENT KILL TYPE pubsub");
	EVENTUALLY(told == 2);
	for (int i = 0; i < 2; i++)
		give(hold[i]);
}
