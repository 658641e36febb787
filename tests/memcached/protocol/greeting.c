/* SPDX-License-Identifier: Apache-2.0 */
/* The greeting of the memcached protocol: requirements on a server, and the
 * witness of the server's identity. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/memcached/protocol/rig.h"

TestSuite(memcached_greeting, .init = rig_up, .fini = rig_end);

static void expect_refused(const char *query, const char *bytes,
			   const char *why)
{
	rig_begin(query);
	rig_say(RIG_MAIN, bytes);
	rig_turn();
	rig_submit(0, DLKI_ATTEMPT);
	rig_turn();
	cr_assert_eq(rig.ops[0].outcome, DLKI_FAILED);
	cr_assert_not_null(strstr(rig.errors[0], why), "%s", rig.errors[0]);
	cr_assert(!rig.world.socks[RIG_MAIN].is_open);
}

Test(memcached_greeting, a_server_that_will_not_do_is_refused)
{
	char text[400];

	expect_refused("", "-ERR unknown command\r\n", "use redis:// for it");
	expect_refused("", "CLIENT_ERROR unauthenticated\r\n", "wants a login");
	expect_refused("", "HTTP/1.1 400 Bad Request\r\n",
		       "says 'HTTP/1.1 400 Bad Request'");
	expect_refused("", "STAT pid 1\r\nEND\r\n",
		       "does not tell its time, uptime and version");
	snprintf(text, sizeof(text),
		 "%sSTORED\r\nVALUE dlock.0 0 1 1\r\na\r\nEND\r\nERROR\r\n",
		 rig_stats(0, 100));
	expect_refused("&protocol=meta", text, "has no meta protocol");
	expect_refused("&token_base=1800000000000000", text,
		       "is ahead of the server's clock");
}

Test(memcached_greeting, the_greeting_asks_what_it_needs)
{
	rig_begin("");
	rig_expect(GREETING "mn\r\n");
	rig_begin("&protocol=text");
	rig_expect(GREETING);
	rig_welcome(RIG_MAIN, 100, 0);
	cr_assert(dlki_engine_is_up(rig.e));
}

Test(memcached_greeting, a_server_is_known_by_its_witness)
{
	cr_assert_str_eq(rig.e->endpoint.home, "1700000000 7 " RIG_WITNESS);
}

/* A server without free memory may have no witness. */
Test(memcached_greeting, a_witness_is_not_needed)
{
	rig_begin("&protocol=text");
	rig_say_slowly(RIG_MAIN, rig_stats(0, 100));
	rig_say_slowly(RIG_MAIN,
		       "SERVER_ERROR out of memory storing object\r\nEND\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
}

/* The witness was forgotten, and another client has stored another. */
Test(memcached_greeting, home_is_known_by_another_witness)
{
	rig_lose(RIG_MAIN);
	rig_connected(1);
	rig_say(1, rig_stats(0, 101));
	rig_say(1, "NOT_STORED\r\nVALUE dlock.0 0 3 1\r\nabc\r\nEND\r\nMN\r\n");
	cr_assert(dlki_engine_is_up(rig.e));
	cr_assert_eq(rig.moved, 0);
}
