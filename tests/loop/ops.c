/* SPDX-License-Identifier: Apache-2.0 */
/* Ops of several requests, held ops; and news in words. */
#include <criterion/criterion.h>

#include "tests/loop/rig.h"

TestSuite(ops, .init = rig_up, .fini = rig_free);

/* ---- Several requests ---------------------------------------------------- */

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
	dlk_time begun = rig.world.clock;

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

Test(ops, that_are_held_end_with_the_engine)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_WATCH, never);
	rig_free();
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNSENT);
}

/* ---- Held between two requests ------------------------------------------- */

/* The store has had the first request. */
Test(ops, that_are_held_when_answered_end_unanswered)
{
	dlk_time begun = rig.world.clock;

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

/* Undelivered answers are freed. */
Test(ops, news_may_come_too_late)
{
	dlki_warn(rig.e->store, "of nothing");
	dlki_wanted(rig.e->store, "nobody");
	rig_free();
	cr_assert_eq(rig.warned, 0);
}
