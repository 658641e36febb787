/* SPDX-License-Identifier: Apache-2.0 */
/* An unreachable server: the claims are told, with the reason. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/loop/rig.h"

TestSuite(down, .init = rig_up, .fini = rig_free);

static void why_is(int code, const char *text)
{
	struct dlk_error why;

	dlki_engine_why(rig.e, &why);
	cr_assert_eq(why.code, code, "%s", why.text);
	cr_assert_str_eq(why.text, text);
}

Test(down, a_server_that_refuses_at_each_address_is_told)
{
	rig_init("", 2);
	why_is(0, "");
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_refuse(0, -ECONNREFUSED);
	rig_turn();
	cr_assert_eq(rig.down, 0, "the other address is next");
	rig_refuse(1, -EHOSTUNREACH);
	rig_turn();
	cr_assert_eq(rig.down, 1);
	cr_assert_eq(rig.ended[1], 0);
	why_is(DLOCK_EUNREACHABLE, "127.0.0.1:7000: Connection refused");
}

/* The next connection may be better. */
Test(down, a_connection_that_was_lost_is_not_told)
{
	rig_end(0);
	rig_turn();
	cr_assert(!dlki_engine_is_up(rig.e));
	cr_assert_eq(rig.down, 0);
	why_is(DLOCK_EUNREACHABLE,
	       "127.0.0.1:7000: the server closed the connection");
}

/* The claims get no news then, and need not know: only the log is told. */
Test(down, a_link_for_news_is_no_way_to_the_server)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "B 100 1\n");
	rig_push();
	rig_refuse(1, -ECONNREFUSED);
	rig_turn();
	cr_assert_eq(rig.unheard, 1);
	cr_assert_str_eq(rig.told, "127.0.0.1:7000: Connection refused");
	cr_assert_eq(rig.down, 0);
	cr_assert(dlki_engine_is_up(rig.e));
}

/* The first greeting has longer: see connect_ms. */
Test(down, a_known_server_greets_within_patience)
{
	dlk_time begun;

	script_ends(&rig.world, 0);
	while (rig.world.opened < 2)
		rig_turn_until(rig.world.clock + 10 * DLK_MS);
	script_connected(&rig.world, 1);
	begun = rig.world.clock;
	while (rig.world.socks[1].is_open)
		rig_turn_until(rig.world.clock + 10 * DLK_MS);
	cr_assert_geq(rig.world.clock, begun + 980 * DLK_MS);
	cr_assert_leq(rig.world.clock, begun + 1020 * DLK_MS);
	why_is(DLOCK_EUNREACHABLE, "127.0.0.1:7000: not connected in time");
}

Test(down, a_claim_in_a_hurry_waits_for_no_pause)
{
	rig_init("", 1);
	rig_push();
	rig_refuse(0, -ECONNREFUSED);
	rig_turn();
	rig_push();
	cr_assert_eq(rig.world.opened, 1, "a pause comes first");
	cr_assert_not(dlki_engine_hurry(rig.e));
	rig_push();
	cr_assert_eq(rig.world.opened, 2);
	cr_assert(dlki_engine_hurry(rig.e));
	rig_push();
	cr_assert_eq(rig.world.opened, 2, "the try is under way");
}
