/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of several requests, held ops; and news in words. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/loop/rig.h"

TestSuite(ops, .init = rig_up, .fini = rig_free);

static const dlk_time never = DLK_FOREVER;

static void expect_heard(int sock, const char *text)
{
	cr_assert_str_eq(script_heard(&rig.world, sock), text);
}

/* ---- Several requests ---------------------------------------------------- */

Test(ops, a_second_request_follows_the_answer_to_the_first)
{
	dlk_time second;

	rig_submit(1, DLKI_BREAK, never);
	rig_submit(2, DLKI_ATTEMPT, never);
	expect_heard(0, "K 1\nA 2\n");
	rig.world.clock += 5 * DLK_MS;
	second = rig.world.clock;
	rig_say(0, "K\n");
	expect_heard(0, "K2 1\n");
	cr_assert_eq(rig.ended[1], 0);
	rig_say(0, "G 7\nY1\n");
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_ANSWERED);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_NONE);
	cr_assert_eq(rig.ops[1].since, second);
	cr_assert_eq(rig.ops[2].token, 7);
}

/* The first request was sent, so the op does not begin anew. */
Test(ops, a_second_request_that_was_not_sent_is_unanswered)
{
	rig_submit(1, DLKI_BREAK, never);
	script_room(&rig.world, 0, 0);
	rig_say(0, "K\n");
	rig_end(0);
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
}

/* Patience is for each request. */
Test(ops, a_second_request_has_a_patience_of_its_own)
{
	dlk_time begun;

	begun = rig.world.clock;
	rig_submit(1, DLKI_BREAK, never);
	rig.world.clock = begun + 900 * DLK_MS;
	rig_say(0, "K\n");
	rig_turn_until(begun + 1899 * DLK_MS);
	rig_turn();
	cr_assert_eq(rig.ended[1], 0);
	rig_turn_until(begun + 1900 * DLK_MS);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
}

/* ---- Held ---------------------------------------------------------------- */

Test(ops, that_are_held_are_in_nobodys_way_and_come_first_then)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_WATCH, never);
	rig_submit(2, DLKI_WATCH, never);
	rig_submit(3, DLKI_RELEASE, never);
	expect_heard(0, "R 3\n");
	rig_turn();
	rig_connect(1);
	script_says(&rig.world, 1, "OK\n");
	rig.ops[4].verb = DLKI_RELEASE;
	rig.ops[4].deadline = never;
	cr_assert_eq(dlki_submit(rig.e, &rig.ops[4]), 0);
	rig_turn();
	expect_heard(0, "J 1\nJ 2\nR 4\n");
	rig_say(0, "Y1\nJ 99\nY0\n");
	cr_assert_eq(rig.ops[1].stood, 1);
	cr_assert_eq(rig.ops[1].wanted, 1);
	cr_assert_eq(rig.ops[1].token_last, 99);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert_eq(rig.ops[2].stood, 0);
	cr_assert_eq(rig.ended[4], 0);
}

Test(ops, that_are_held_end_by_deadline_and_cancel)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_WATCH, rig.world.clock + 7);
	rig_submit(2, DLKI_WATCH, never);
	rig_turn_until(rig.world.clock + 7);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNSENT);
	cr_assert_eq(rig.ended[2], 0);
	dlki_cancel(&rig.ops[2]);
	rig_turn();
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNSENT);
}

/* The connection goes, and comes again: no request of theirs was sent. */
Test(ops, that_are_held_outlive_a_connection)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_WATCH, never);
	rig_turn();
	rig_end(0);
	rig_connect(1);
	rig_say(1, "OK\n");
	cr_assert_eq(rig.ended[1], 0);
	for (int i = 0; i < 15 && rig.world.opened < 3; i++)
		rig_turn_until(rig.world.clock + 100 * DLK_MS);
	rig_connect(2);
	rig_say(2, "HI\n");
	expect_heard(2, "HI\nJ 1\n");
}

Test(ops, that_are_held_end_with_the_engine)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_WATCH, never);
	rig_free();
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNSENT);
}

/* ---- Held between two requests ------------------------------------------- */

Test(ops, that_are_held_when_answered_begin_anew)
{
	dlk_time second;

	rig_submit(1, DLKI_ATTEMPT, never);
	rig_submit(2, DLKI_RELEASE, never);
	expect_heard(0, "A 1\nR 2\n");
	rig_say(0, "H\nY1\n");
	cr_assert_eq(rig.ended[1], 0);
	cr_assert_eq(rig.ended[2], 1);
	expect_heard(0, "");
	rig.world.clock += 5 * DLK_MS;
	second = rig.world.clock;
	rig_say(0, "U\n");
	expect_heard(0, "A 1\n");
	rig_say(0, "G 7\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[1].since, second);
}

/* The store has had the first request. */
Test(ops, that_are_held_when_answered_end_unanswered)
{
	dlk_time begun;

	begun = rig.world.clock;
	rig_submit(1, DLKI_ATTEMPT, begun + 7);
	rig_submit(2, DLKI_ATTEMPT, never);
	rig_submit(3, DLKI_ATTEMPT, never);
	rig_say(0, "H\nH\nH\n");
	rig_turn_until(begun + 7);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_MAYBE);
	cr_assert_eq(rig.ops[1].since, begun);
	dlki_cancel(&rig.ops[2]);
	rig_turn();
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ended[3], 0);
	rig_end(0);
	cr_assert_eq(rig.ops[3].outcome, DLKI_UNANSWERED);
	cr_assert_eq(rig.ended[3], 1);
}

Test(ops, that_are_held_when_answered_end_with_the_engine)
{
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "H\n");
	rig_free();
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
}

Test(ops, that_are_busy_may_say_what_is_in_the_way)
{
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "X a stone\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_BUSY);
	cr_assert_str_eq(rig.errors[1], "a stone");
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "B 5 9\n");
	cr_assert_eq(rig.ended[1], 2);
}

/* ---- A server that refuses us -------------------------------------------- */

Test(ops, that_are_held_fail_when_the_server_refuses_us)
{
	int sock;

	rig_init_up("ear");
	rig_submit(1, DLKI_WATCH, never);
	rig_end(0);
	sock = rig.world.opened;
	for (int i = 0; i < 15 && rig.world.opened == sock; i++)
		rig_turn_until(rig.world.clock + 100 * DLK_MS);
	cr_assert_eq(rig.world.socks[sock].set, DLKI_ANSWERS);
	rig_connect(sock);
	rig_say(sock, "NO\n");
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[1], "refused");
}

/* ---- Words ------------------------------------------------------ */

Test(ops, news_may_be_words)
{
	rig_say(0, "O somebody\n! beware of the dog\n");
	cr_assert_eq(rig.wanted, 1);
	cr_assert_str_eq(rig.owner, "somebody");
	cr_assert_eq(rig.warned, 1);
	cr_assert_str_eq(rig.told, "beware of the dog");
}

/* Undelivered answers are freed. */
Test(ops, news_may_come_too_late)
{
	dlki_warn(rig.e->store, "of nothing");
	dlki_wanted(rig.e->store, "nobody");
	rig_free();
	cr_assert_eq(rig.warned, 0);
}
