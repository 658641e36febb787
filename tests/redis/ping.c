/* SPDX-License-Identifier: Apache-2.0 */
/* The PING ahead of a release: when it is sent. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(redis_ping, .timeout = 120);

enum { HELD_MS = 20 };

static struct lab_server *server;
static dlock_client *c;
static dlock_lock *l;

static void set_up(void)
{
	server = server_start(NULL);
	c = client_of(server->port, "ttl=60s", NULL);
	l = mutex(c, "x");
	warm_up(c);
}

static void held_for_a_while(void)
{
	dlock_hold *h = take(l, 0);

	nap_ms(HELD_MS);
	give(h);
}

CASE(redis_ping, goes_ahead_of_the_release_of_what_was_held_for_a_while)
{
	uint64_t before;

	set_up();
	before = calls(server, "ping");
	for (uint64_t i = 1; i <= 3; i++) {
		held_for_a_while();
		CHECK_INT(calls(server, "ping"), ==, before + i);
	}
}

/* All but those that the machine interrupted. */
CASE(redis_ping, is_spared_where_nobody_can_have_come)
{
	enum { PAIRS = 200 };
	uint64_t before;

	set_up();
	before = calls(server, "ping");
	for (int i = 0; i < PAIRS; i++)
		give(take(l, 0));
	CHECK_INT(calls(server, "ping") - before, <, PAIRS / 2);
}

/* There the lock passes on all the time. */
CASE(redis_ping, is_spared_where_a_message_brought_the_lock)
{
	struct taker t = { 0 };
	dlock_hold *h;
	uint64_t before;

	set_up();
	h = take(elsewhere(server, "ttl=60s"), 0);
	before = scripts_run(server);
	taker_queue(&t, c, l, FOREVER);
	/* It asks again when it is heard. */
	EVENTUALLY(scripts_run(server) >= before + 2);
	give(h);
	EVENTUALLY(t.done);
	CHECK_OK(t.rc);
	nap_ms(HELD_MS);
	before = calls(server, "ping");
	let_go(&t);
	CHECK_OK(t.release_rc);
	CHECK_INT(calls(server, "ping"), ==, before);
	held_for_a_while();
	CHECK_INT(calls(server, "ping"), ==, before + 1);
}
