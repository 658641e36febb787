/* SPDX-License-Identifier: Apache-2.0 */
/* An answer that never comes: no later answer is taken for it. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/redis/protocol/rig.h"

TestSuite(redis_missing, .init = rig_up, .fini = rig_end);

/* A renewal that has ended by the deadline; and another one behind it. */
static void miss_one(void)
{
	rig.ops[1].deadline = rig.world.clock + 5;
	rig_submit(1, DLKI_RENEW);
	cr_assert(!strstr(rig_heard(RIG_MAIN), PING));
	dlki_turn(rig.e, DLKI_ALL_SETS, rig.world.clock + 5);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_str_eq(rig_heard(RIG_MAIN), PING);
	rig_submit(2, DLKI_RENEW);
	cr_assert(!strstr(rig_heard(RIG_MAIN), PING));
}

/* The answers to the renewal that is over, the PING and the other renewal; an
 * answer that is missing ends the connection. */
Test(redis_missing, an_answer_is_found_missing_by_the_pong)
{
	static const struct {
		const char *bytes;
		int is_open;
	} cases[] = {
		{ ":-1\r\n+PONG\r\n:900\r\n", 1 },
		{ ":-1\r\n-NOPERM no ping\r\n:900\r\n", 1 },
		{ "+PONG\r\n:900\r\n", 0 },
		{ ":900\r\n:900\r\n", 0 }, /* no PONG */
	};

	for (size_t i = 0; i < 4; i++) {
		struct dlk_error why;

		rig_up();
		miss_one();
		rig_say(RIG_MAIN, cases[i].bytes);
		rig_turn();
		cr_assert_eq(rig.world.socks[RIG_MAIN].is_open,
			     cases[i].is_open, "%zu", i);
		cr_assert_eq(rig.ops[2].outcome, cases[i].is_open ?
							 DLKI_ANSWERED :
							 DLKI_UNANSWERED);
		cr_assert_eq(rig.ops[2].stood, cases[i].is_open);
		if (cases[i].is_open)
			continue;
		dlki_engine_why(rig.e, &why);
		cr_assert_eq(why.code, DLOCK_EUNREACHABLE);
		cr_assert(strstr(why.text, "did not answer a request"), "%s",
			  why.text);
	}
}

/* A single one is behind all requests. */
Test(redis_missing, ops_that_end_together_share_a_ping)
{
	for (int i = 1; i <= 3; i++)
		rig_submit(i, DLKI_RENEW);
	rig_heard(RIG_MAIN);
	for (int i = 1; i <= 3; i++)
		dlki_cancel(&rig.ops[i]);
	rig_turn();
	cr_assert_str_eq(rig_heard(RIG_MAIN), PING);
	rig_say(RIG_MAIN, ":1\r\n:1\r\n:1\r\n+PONG\r\n");
	rig_submit(4, DLKI_RENEW);
	rig_heard(RIG_MAIN);
	dlki_cancel(&rig.ops[4]);
	rig_turn();
	cr_assert_str_eq(rig_heard(RIG_MAIN), PING);
}

/* ---- An answer too many -------------------------------------------------- */

static void is_asked_anew(void)
{
	rig_turn();
	cr_assert_not(rig.world.socks[RIG_MAIN].is_open);
	cr_assert_eq(rig.ops[2].state, DLKI_OP_QUEUED);
	rig_connected(1);
	rig_say_string(1, "redis_version:7.0.15\r\nrun_id:one\r\n");
	rig_turn();
	rig_say(1, "$16\r\n1700000000000002\r\n");
	cr_assert_eq(rig.ops[2].outcome, DLKI_GRANTED);
	cr_assert_eq(rig.ops[2].token, 1700000000000002);
}

/* It has come, and no thread has read it when the next op is submitted. */
Test(redis_missing, an_answer_too_many_is_not_the_next_ops)
{
	struct dlk_error why;

	rig_submit(1, DLKI_ATTEMPT);
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	rig_heard(RIG_MAIN);
	script_says(&rig.world, RIG_MAIN, "$16\r\n1700000000000001\r\n");
	rig.world.clock += DLK_MS;
	rig_submit(2, DLKI_ATTEMPT);
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
	dlki_engine_why(rig.e, &why);
	cr_assert(strstr(why.text, "nobody asked for"), "%s", why.text);
	is_asked_anew();
}

/* The client does not write to a connection that has ended, so the store never
 * sees the request. */
Test(redis_missing, an_end_is_seen_before_the_next_op)
{
	script_ends(&rig.world, RIG_MAIN);
	rig.world.clock += DLK_MS;
	rig_submit(2, DLKI_ATTEMPT);
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
	is_asked_anew();
}
