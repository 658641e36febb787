/* SPDX-License-Identifier: Apache-2.0 */
/* The name of the client's server. */
#include <criterion/criterion.h>
#include <errno.h>
#include <netdb.h>

#include "support/address.h"
#include "tests/loop/homes.h"

TestSuite(home_name, .fini = rig_free);

Test(home_name, a_name_is_looked_up_without_waiting)
{
	rig_init_host("", "h.test", NULL);
	rig_push();
	rig_turn();
	cr_assert_gt(rig.world.resolved, 0);
	cr_assert_eq(rig.world.opened, 0);
	named(7001, 0);
	rig_turn();
	cr_assert_eq(rig.world.opened, 1);
	greet(0, 7001, "HI one\n");
	expect_up(1, 0);
	for (int i = 0, n = rig.world.resolved; i < 3; i++) {
		rig_turn();
		cr_assert_eq(rig.world.resolved, n);
	}
}

Test(home_name, a_name_that_is_none_is_asked_for_again)
{
	int asked;

	rig_init_host("", "h.test", NULL);
	script_named(&rig.world, EAI_NONAME, NULL);
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_turn();
	expect_down(1, "h.test: no host has this name");
	asked = rig.world.resolved;
	rig_turn();
	cr_assert_eq(rig.world.resolved, asked, "after a pause");
	named(7001, 0);
	greet(0, 7001, "HI one\n");
	cr_assert_str_eq(script_heard(&rig.world, 0), "A 1\n");
}

Test(home_name, a_name_is_resolved_in_time_or_not)
{
	struct dlk_error why;
	dlk_time begun;

	rig_init_host("", "h.test", NULL);
	begun = rig.world.clock;
	rig_submit(1, DLKI_ATTEMPT, begun + 500 * DLK_MS);
	rig_turn_until(never);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNSENT);
	dlki_engine_why(rig.e, &why);
	cr_assert_str_eq(why.text, "h.test: the name was not resolved in time");
	/* An early look changes no server. */
	rig.e->links[0]->retry_at = rig.world.clock;
	dlki_alarm_set(&rig.e->alarms, &rig.e->links[0]->alarm,
		       rig.world.clock);
	rig_turn();
	cr_assert_eq(rig.down, 0);
	rig_turn_until(never);
	cr_assert_eq(rig.world.clock, begun + 2000 * DLK_MS);
	rig_turn();
	expect_down(1, "h.test: the name was not resolved in time");
	/* The answer is as good when the engine asks again. */
	named(7001, 0);
	greet(0, 7001, "HI one\n");
	expect_up(1, 0);
}

Test(home_name, a_name_has_so_many_addresses)
{
	rig_init_host("", "h.test", NULL);
	script_named(&rig.world, DLKI_ADDRESSES + 1, NULL);
	rig_push();
	rig_turn();
	expect_down(1, "h.test: the name has 33 addresses; give one address");
}

Test(home_name, the_last_addresses_are_good_while_the_name_service_is_away)
{
	dlk_time lost;

	begin_at_home(7001);
	lose(0);
	script_named(&rig.world, EAI_AGAIN, NULL);
	refuse(1, 7001, -ECONNREFUSED);
	lost = rig.world.clock;
	greet(2, 7001, "HI one\n");
	cr_assert_eq(rig.world.clock, lost, "an answer: nothing is waited for");
	expect_up(2, 0);
	/* It hangs. */
	lose(2);
	script_named(&rig.world, 0, NULL);
	refuse(3, 7001, -ECONNREFUSED);
	lost = rig.world.clock;
	greet(4, 7001, "HI one\n");
	cr_assert_eq(rig.world.clock, lost + 250 * DLK_MS);
	expect_up(3, 0);
	/* There is no such name any longer. */
	lose(4);
	script_named(&rig.world, EAI_NONAME, NULL);
	refuse(5, 7001, -ECONNREFUSED);
	rig_turn();
	expect_down(1, "h.test: no host has this name");
}
