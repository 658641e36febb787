/* SPDX-License-Identifier: Apache-2.0 */
/* Turns of the loop: ops from submission to end. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/loop/rig.h"

TestSuite(loop, .init = rig_up, .fini = rig_free);

#define SECONDS(n) ((n)*1000 * DLK_MS)

static const dlk_time never = DLK_FOREVER;

static void ignore(struct dlki_op *op, dlk_time now)
{
	(void)op;
	(void)now;
}

Test(loop, an_op_is_sent_answered_and_ended_once)
{
	rig_submit(7, DLKI_ATTEMPT, never);
	cr_assert_str_eq(script_heard(&rig.world, 0), "A 7\n");
	cr_assert_eq(rig.ended[7], 0);
	rig_say(0, "G 4711\n");
	cr_assert_eq(rig.ended[7], 1);
	cr_assert_eq(rig.ops[7].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[7].token, 4711);
	cr_assert_eq(rig.ops[7].lease_ms, 1000);
	rig_turn();
	cr_assert_eq(rig.ended[7], 1);
}

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
	dlk_time first, second;

	script_room(&rig.world, 0, 6);
	for (int i = 1; i <= 3; i++)
		rig_queue(i, DLKI_ATTEMPT, never);
	first = rig.world.clock;
	rig_push(); /* "A 1\nA " */
	rig.world.clock += DLK_MS;
	second = rig.world.clock;
	script_room(&rig.world, 0, 100);
	rig_turn();
	cr_assert_str_eq(script_heard(&rig.world, 0), "A 1\nA 2\nA 3\n");
	rig_say(0, "G 1\nG 2\nG 3\n");
	cr_assert_eq(rig.ops[1].since, first);
	cr_assert_eq(rig.ops[2].since, first);
	cr_assert_eq(rig.ops[3].since, second);
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

Test(loop, a_request_of_several_ops_has_an_answer_for_each)
{
	for (int i = 1; i <= 3; i++)
		rig_queue(i, DLKI_RENEW, i == 2 ? rig.world.clock + 1 : never);
	rig_push();
	cr_assert_str_eq(script_heard(&rig.world, 0), "N 1 2 3\n");
	rig_turn_until(rig.world.clock + 1);
	cr_assert_eq(rig.ended[2], 1, "by its deadline");
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	rig_say(0, "Y1 Y1 Y0\n");
	cr_assert_eq(rig.ops[1].stood, 1);
	cr_assert_eq(rig.ops[3].stood, 0);
	cr_assert_eq(rig.ended[1] + rig.ended[2] + rig.ended[3], 3);
}

Test(loop, ops_of_an_answer_that_was_short_of_them_are_unanswered)
{
	for (int i = 1; i <= 2; i++)
		rig_queue(i, DLKI_RENEW, never);
	rig_push();
	rig_say(0, "Y1\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
}

/* ---- Deadlines ----------------------------------------------------------- */

Test(loop, a_deadline_is_kept_exactly)
{
	dlk_time deadline;

	deadline = rig.world.clock + 12345678;
	rig_submit(1, DLKI_ATTEMPT, deadline);
	rig_turn_until(deadline + SECONDS(1));
	cr_assert_eq(rig.world.until, deadline);
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ended_at[1], deadline);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
}

Test(loop, without_a_connection_a_deadline_finds_the_op_unsent)
{
	dlk_time deadline;

	rig_init("", 1);
	deadline = rig.world.clock + SECONDS(1);
	rig_submit(1, DLKI_ATTEMPT, deadline);
	while (rig.ended[1] == 0)
		rig_turn_until(never);
	cr_assert_eq(rig.ended_at[1], deadline);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNSENT);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_NONE);
	cr_assert_eq(rig.ops[1].since, 0);
}

Test(loop, needless_turns_change_nothing)
{
	rig_submit(1, DLKI_ATTEMPT, rig.world.clock + SECONDS(1));
	for (int i = 0; i < 20; i++) {
		rig_turn();
		rig_push();
	}
	cr_assert_eq(rig.ended[1], 0);
	cr_assert_str_eq(script_heard(&rig.world, 0), "A 1\n");
	rig.world.clock += SECONDS(100);
	for (int i = 0; i < 20; i++)
		rig_turn();
	cr_assert_eq(rig.ended[1], 1);
}

Test(loop, a_cancelled_op_ends_with_the_next_push)
{
	rig_submit(1, DLKI_ATTEMPT, never);
	dlki_cancel(&rig.ops[1]);
	dlki_cancel(&rig.ops[1]);
	cr_assert_eq(rig.ended[1], 0, "never from the call itself");
	rig_push();
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	dlki_cancel(&rig.ops[1]);
	rig_push();
	cr_assert_eq(rig.ended[1], 1);
}

Test(loop, an_op_that_is_cancelled_before_it_is_sent_leaves_nothing)
{
	rig_queue(1, DLKI_ATTEMPT, never);
	dlki_cancel(&rig.ops[1]);
	rig_push();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNSENT);
	cr_assert_str_eq(script_heard(&rig.world, 0), "");
}

Test(loop, an_early_alarm_changes_nothing)
{
	dlk_time deadline;

	deadline = rig.world.clock + SECONDS(1) / 2;
	rig_submit(1, DLKI_ATTEMPT, deadline);
	dlki_alarm_set(&rig.e->alarms, &rig.ops[1].alarm, rig.world.clock);
	rig_turn();
	cr_assert_eq(rig.ended[1], 0);
	rig_turn_until(never);
	cr_assert_eq(rig.ended_at[1], deadline);
}

Test(loop, many_ops_of_a_verb_are_handed_over_in_batches)
{
	static struct dlki_op more[RIG_OPS];
	const char *heard;
	size_t lines = 0;

	for (int i = 0; i < RIG_OPS; i++) {
		rig.ops[i].verb = DLKI_ATTEMPT;
		rig.ops[i].deadline = never;
		more[i] = rig.ops[i];
		more[i].id = (uint64_t)i + RIG_OPS;
		cr_assert_eq(dlki_submit(rig.e, &rig.ops[i]), 0);
	}
	for (int i = 0; i < RIG_OPS; i++) {
		more[i].done = rig.ops[0].done;
		cr_assert_eq(dlki_submit(rig.e, &more[i]), 0);
	}
	rig_push();
	heard = script_heard(&rig.world, 0);
	for (const char *p = heard; *p; p++)
		lines += *p == '\n';
	cr_assert_eq(lines, 2 * RIG_OPS);
	cr_assert_not_null(strstr(heard, "A 63\nA 64\n"));
	/* The rig does not know the further ops. */
	for (int i = 0; i < RIG_OPS; i++)
		more[i].done = ignore;
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

/* ---- News ---------------------------------------------------------------- */

Test(loop, news_are_delivered_after_the_answers_of_a_turn)
{
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "P 1 77 123456\nW 4\nB 100 9\n");
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.pushed, 1);
	cr_assert_eq(rig.news_token, 77);
	cr_assert_eq(rig.news_clock, 123456);
	cr_assert_eq(rig.news_lease_ms, 500);
	cr_assert_eq(rig.woken, 1);
	cr_assert_eq(rig.news_id, 4);
	for (int i = 0; i < 40; i++)
		rig_say(0, "W 4\n");
	cr_assert_eq(rig.woken, 41);
	rig_say(0, "L\nL\n");
	cr_assert_eq(rig.looked, 1);
}

Test(loop, the_protocol_has_one_deadline)
{
	struct lines *p;

	p = (struct lines *)rig.e->store;
	p->base.due = rig.world.clock + SECONDS(3);
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "G 1\n");
	for (int i = 0; i < 5; i++)
		rig_turn_until(never);
	cr_assert_eq(p->timers, 1);
	cr_assert_eq(p->timer_now, SECONDS(4));
}
