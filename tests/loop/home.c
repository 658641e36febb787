/* SPDX-License-Identifier: Apache-2.0 */
/* The client's server: which is home, and when another server becomes home. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/loop/homes.h"

TestSuite(home, .fini = rig_free);

/* About a round trip: the connect() does not count. */
Test(home, is_as_far_away_as_its_greeting_takes)
{
	rig_init("", 1);
	cr_assert_eq(dlki_engine_way(rig.e), 0);
	rig_push();
	rig.world.clock += 5 * DLK_MS;
	rig_connect(0);
	rig.world.clock += 7 * DLK_MS;
	rig_say(0, "HI one\n");
	cr_assert_eq(dlki_engine_way(rig.e), 7 * DLK_MS);
}

/* ---- Several addresses --------------------------------------------------- */

Test(home, two_servers_of_one_name_are_refused)
{
	begin(7001, 7002);
	rig_submit(1, DLKI_ATTEMPT, never);
	greet(0, 7001, "HI one\n");
	greet(1, 7002, "HI two\n");
	expect_down(1, "h.test:7000: 127.0.0.1:7001 and 127.0.0.1:7002 are two "
		       "servers, and locks on one are not locks on the other; "
		       "give one address");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	rig_turn_until(rig.world.clock + 100000 * DLK_MS);
	cr_assert_eq(rig.world.opened, 2, "for good");
}

Test(home, two_that_do_not_tell_are_refused)
{
	begin(7001, 7002);
	greet(0, 7001, "HI\n");
	greet(1, 7002, "HI\n");
	expect_down(1, "h.test:7000: 127.0.0.1:7001 and 127.0.0.1:7002 do not "
		       "say whether they are one server; permit HI, or give "
		       "one address");
}

Test(home, an_address_that_refuses_may_be_another_server)
{
	begin(7001, 7002);
	rig_submit(1, DLKI_ATTEMPT, never);
	greet(0, 7001, "HI one\n");
	refuse(1, 7002, -ECONNREFUSED);
	expect_down(1,
		    "h.test:7000: 127.0.0.1:7002 refuses connections and may "
		    "be another server than 127.0.0.1:7001, which answers; "
		    "give one address");
	refuse(2, 7001, -ECONNREFUSED);
	greet(3, 7002, "HI one\n");
	cr_assert_eq(rig.down, 2);
	cr_assert_eq(rig.ended[1], 0, "the op waits");
	greet(4, 7001, "HI one\n");
	greet(5, 7002, "HI one\n");
	expect_up(1, 0);
	cr_assert_str_eq(script_heard(&rig.world, 5), "A 1\n");
}

Test(home, an_address_that_is_silent_may_be_another_server)
{
	dlk_time begun;

	begin(7001, 7002);
	begun = rig.world.clock;
	await(0, 7001);
	rig_turn_until(never);
	cr_assert_eq(rig.world.clock, begun + 1000 * DLK_MS, "a share");
	greet(1, 7002, "HI one\n");
	expect_down(1, "h.test:7000: 127.0.0.1:7001 does not answer and may be "
		       "another server than 127.0.0.1:7002, which answers; "
		       "give one address");
}

Test(home, an_address_without_a_route_is_left_out)
{
	begin(7001, 7002);
	greet(0, 7001, "HI one\n");
	refuse(1, 7002, -ENETUNREACH);
	cr_assert_eq(rig.warned, 1);
	cr_assert_str_eq(rig.told,
			 "h.test:7000: there is no route to 127.0.0.1:7002; if "
			 "others reach another server there, give the address "
			 "127.0.0.1:7001");
	greet(2, 7001, "HI one\n");
	expect_up(1, 0);
}

Test(home, the_server_that_was_chosen_may_have_gone)
{
	begin(7001, 7002);
	greet(0, 7001, "HI one\n");
	refuse(1, 7002, -ENETUNREACH);
	greet(2, 7001, "HI two\n");
	expect_down(1, "h.test:7000: it became another server meanwhile");
}

/* ---- Home ---------------------------------------------------------------- */

Test(home, is_kept_while_it_answers)
{
	int asked;

	begin_at_home(7001);
	named(7002, 0);
	asked = rig.world.resolved;
	lose(0);
	greet(1, 7001, "HI one\n");
	expect_up(2, 0);
	cr_assert_eq(rig.world.resolved, asked);
}

Test(home, is_looked_for_at_all_addresses)
{
	begin_at_home(7001);
	named(7002, 7003);
	lose(0);
	refuse(1, 7001, -ECONNREFUSED);
	greet(2, 7002, "HI one\n");
	expect_up(2, 0);
	lose(2);
	await(3, 7002);
}

Test(home, is_not_exchanged_while_one_of_the_addresses_is_silent)
{
	begin_at_home(7001);
	named(7001, 7002);
	lose(0);
	await(1, 7001);
	await(2, 7001);
	greet(3, 7002, "HI two\n");
	expect_down(1, "h.test:7000: 127.0.0.1:7001 does not answer and may be "
		       "another server than 127.0.0.1:7002, which answers; "
		       "give one address");
	cr_assert_eq(rig.moved, 0);
	greet(4, 7001, "HI one\n");
	expect_up(2, 0);
}

/* Other clients may reach home, or will. */
Test(home, is_not_exchanged_while_its_address_refuses)
{
	static const int errors[] = { -ECONNREFUSED, -ENETUNREACH,
				      -EHOSTUNREACH };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		begin_at_home(7001);
		named(7002, 7001);
		lose(0);
		refuse(1, 7001, errors[i]);
		greet(2, 7002, "HI two\n");
		refuse(3, 7001, errors[i]);
		cr_assert_eq(rig.down, 1);
		cr_assert_eq(rig.moved, 0);
		greet(4, 7001, "HI one\n");
		expect_up(2, 0);
	}
}

/* The servers differ, and home was a third or unknown: neither becomes home. */
Test(home, is_not_exchanged_for_one_of_two)
{
	for (int refuses = 0; refuses < 2; refuses++) {
		begin_at_home(7001);
		named(7002, 7003);
		lose(0);
		rig_submit(1, DLKI_ATTEMPT, never);
		if (refuses)
			refuse(1, 7001, -ECONNREFUSED);
		else
			greet(1, 7001, "HI four\n");
		greet(2, 7002, "HI two\n");
		greet(3, 7003, "HI three\n");
		cr_assert_eq(rig.down, 1);
		cr_assert_eq(rig.moved, 0);
		cr_assert_eq(rig.ended[1], 0, "the op waits");
		greet(4, 7001, "HI one\n");
		expect_up(2, 0);
	}
}

Test(home, that_was_started_anew_is_another_server)
{
	rig_init("", 1);
	rig_push();
	greet(0, 7000, "HI one\n");
	lose(0);
	greet(1, 7000, "HI two\n");
	expect_up(2, 1);
	cr_assert_str_eq(rig.told, "127.0.0.1:7000 is another server, or was "
				   "restarted: every hold is checked");
	lose(1);
	greet(2, 7000, "HI two\n");
	expect_up(3, 1);
}

Test(home, that_does_not_tell_is_its_address)
{
	rig_init("", 1);
	rig_push();
	greet(0, 7000, "HI\n");
	lose(0);
	greet(1, 7000, "HI\n");
	expect_up(2, 0);
}

/* The name may still lead there. */
Test(home, that_became_a_replica_is_home_until_there_is_another)
{
	begin_at_home(7001);
	rig_submit(1, DLKI_ATTEMPT, never);
	rig.world.clock += 5000 * DLK_MS;
	rig_say(0, "V\n");
	greet(1, 7001, "HI one\n");
	expect_up(2, 0);
}
