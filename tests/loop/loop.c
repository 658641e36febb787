/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of the loop: ops from submission to end. */
#include <criterion/criterion.h>

#include "tests/loop/rig.h"

TestSuite(loop, .init = rig_up, .fini = rig_free);

#define SECONDS(n) ((n)*1000 * DLK_MS)

/* Store and client agree when the link is greeted. */
Test(loop, an_op_from_before_the_greeting_has_the_lease_agreed)
{
	rig_init("", 1);
	rig_submit(7, DLKI_ATTEMPT, never);
	rig_connect(0);
	rig_say(0, "HI\n");
	cr_assert_str_eq(script_heard(&rig.world, 0), "HI\nA 7\n");
	rig_say(0, "G 4711\n");
	cr_assert_eq(rig.ops[7].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[7].lease_ms, 1000);
}

Test(loop, since_is_of_the_write_that_took_the_first_byte)
{
	dlk_time first, third;

	script_room(&rig.world, 0, 6);
	for (int i = 1; i <= 3; i++)
		rig_queue(i, DLKI_ATTEMPT, never);
	first = rig.world.clock;
	rig_push(); /* "A 1\nA " */
	rig.world.clock += DLK_MS;
	script_room(&rig.world, 0, 2);
	rig_turn(); /* "2\n" */
	rig.world.clock += DLK_MS;
	third = rig.world.clock;
	script_room(&rig.world, 0, 100);
	rig_turn();
	cr_assert_str_eq(script_heard(&rig.world, 0), "A 1\nA 2\nA 3\n");
	rig_say(0, "G 1\nG 2\nG 3\n");
	cr_assert_eq(rig.ops[1].since, first);
	cr_assert_eq(rig.ops[2].since, first);
	cr_assert_eq(rig.ops[3].since, third);
}

Test(loop, what_ends_in_a_turn_is_written_once)
{
	int writes;

	writes = rig.world.writes;
	for (int i = 1; i <= 20; i++)
		rig_queue(i, i % 2 ? DLKI_ATTEMPT : DLKI_RELEASE, never);
	rig_push();
	cr_assert_eq(rig.world.writes, writes + 1);
	cr_assert_str_eq(script_heard(&rig.world, 0),
			 "A 1\nR 2\nA 3\nR 4\nA 5\nR 6\nA 7\nR 8\nA 9\nR 10\n"
			 "A 11\nR 12\nA 13\nR 14\nA 15\nR 16\nA 17\nR 18\n"
			 "A 19\nR 20\n");
}

/* ---- Deadlines ----------------------------------------------------------- */

Test(loop, a_deadline_is_kept_exactly)
{
	dlk_time deadline = rig.world.clock + 12345678;

	rig_submit(1, DLKI_ATTEMPT, deadline);
	rig_turn_until(deadline + SECONDS(1));
	cr_assert_eq(rig.world.until, deadline);
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ended_at[1], deadline);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
}

Test(loop, an_early_alarm_changes_nothing)
{
	dlk_time deadline = rig.world.clock + SECONDS(1) / 2;

	rig_submit(1, DLKI_ATTEMPT, deadline);
	dlki_alarm_set(&rig.e->alarms, &rig.ops[1].alarm, rig.world.clock);
	rig_turn();
	cr_assert_eq(rig.ended[1], 0);
	rig_turn_until(never);
	cr_assert_eq(rig.ended_at[1], deadline);
}

/* ---- Other ends ---------------------------------------------------------- */

static int chained;

static void submit_another(struct dlki_op *op, dlk_time now)
{
	(void)now;
	if (++chained < 100)
		cr_assert_eq(dlki_submit(rig.e, op), 0);
}

/* done() submits: all in a turn, and not without end. */
Test(loop, a_store_that_ends_ops_at_once_does_not_hold_the_turn)
{
	struct dlki_engine_options options = {
		.world = &rig.world.base,
		.protocol = &at_once_protocol,
	};
	struct dlki_op op = { .verb = DLKI_ATTEMPT,
			      .deadline = never,
			      .done = submit_another };
	struct dlk_error err;
	int turns = 0;

	rig_free();
	chained = 0;
	script_init(&rig.world);
	rig.e = dlki_engine_new(&options, &err);
	dlki_lock(rig.e);
	cr_assert_eq(dlki_submit(rig.e, &op), 0);
	dlki_push(rig.e);
	cr_assert_gt(chained, 1);
	cr_assert_lt(chained, 100);
	while (chained < 100 && turns++ < 100)
		dlki_turn(rig.e, DLKI_ALL_SETS, never);
	cr_assert_eq(chained, 100);
	cr_assert_eq(op.since, rig.world.clock);
	cr_assert_eq(rig.world.clock, 1000 * DLK_MS, "no time has passed");
	dlki_unlock(rig.e);
	dlki_engine_free(rig.e);
	rig.e = NULL;
	script_free(&rig.world);
}
