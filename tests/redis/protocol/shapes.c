/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of another shape than the verb's, and answers of every verb. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/redis/protocol/rig.h"

TestSuite(redis_shapes, .init = rig_up, .fini = rig_end);

#define ODD "sent an answer that dlock does not understand"

/* Submit a verb. The answer makes no sense. */
static void expect_nonsense(enum dlki_verb verb, const char *query,
			    const char *answer)
{
	rig_begin_up(query);
	rig_raise_ear();
	rig.ops[1].token = TOKEN;
	rig_submit(1, verb);
	rig_say(RIG_MAIN, answer);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED, "%d: %s", (int)verb,
		     answer);
	cr_assert_not_null(strstr(rig.errors[1], ODD), "%s", rig.errors[1]);
	cr_assert(!rig.world.socks[RIG_MAIN].is_open);
}

Test(redis_shapes, an_answer_of_another_shape_ends_the_connection)
{
	static const enum dlki_verb numbers[] = { DLKI_RENEW, DLKI_RELEASE,
						  DLKI_DOWNGRADE, DLKI_REVOKE };

	for (int i = 0; i < 4; i++) {
		expect_nonsense(numbers[i], "", "$1\r\n1\r\n");
		expect_nonsense(numbers[i], "", ":-2\r\n");
		expect_nonsense(numbers[i], "", "$-1\r\n");
	}
	expect_nonsense(DLKI_WATCH, "", ":1\r\n");
	expect_nonsense(DLKI_WATCH, "", "$3\r\n2 0\r\n");
	expect_nonsense(DLKI_WATCH, "", "$2\r\n0 \r\n");
	expect_nonsense(DLKI_BREAK, "", ":1\r\n");
	expect_nonsense(DLKI_BREAK, "", "$15\r\n000000000000000\r\n");
	expect_nonsense(DLKI_BREAK, "", "$16\r\n00000000000000a0\r\n");
	expect_nonsense(DLKI_INSPECT, "", ":1\r\n");
	expect_nonsense(DLKI_RESIZE, "", "$1\r\n1\r\n");
	expect_nonsense(DLKI_RESIZE, "", ":-1\r\n");
	expect_nonsense(DLKI_INSPECT, "", "*1\r\n:1\r\n");
	expect_nonsense(DLKI_INSPECT, "", "*1\r\n$1\r\nX\r\n");
}

/* The lease is over by the client's clock: the rest by the server, less the
 * rest by the client, would be no int64_t. */
Test(redis_shapes, a_rest_of_the_lease_of_2_to_the_53_ms_is_nonsense)
{
	rig.ops[1].lease_from = rig.ops[1].lease_heard = rig.world.clock;
	rig.world.clock += 60000 * DLK_MS;
	rig.ops[1].token = TOKEN;
	rig_submit(1, DLKI_RENEW);
	rig_say(RIG_MAIN, ":9223372036854775807\r\n");
	cr_assert_eq(rig.warned, 0, "%s", rig.warning);
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
}

Test(redis_shapes, a_break_whose_second_answer_is_another_first_one_fails)
{
	rig_submit(1, DLKI_BREAK);
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	rig_say(RIG_MAIN, "$16\r\n1700000000000001\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert_not_null(strstr(rig.errors[1], ODD));
}

/* The server does not know the verb's script. */
static void expect_again(enum dlki_verb verb)
{
	rig_begin_up("");
	rig_raise_ear();
	rig_submit(1, verb);
	cr_assert_not_null(strstr(rig_heard(RIG_MAIN), "EVALSHA\r\n"));
	rig_say(RIG_MAIN, "-NOSCRIPT No matching script.\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_AGAIN);
	cr_assert_eq(rig.ops[1].residue, DLKI_RESIDUE_NONE);
	cr_assert_str_eq(rig_heard(RIG_MAIN), "");
	rig_submit(1, verb);
	cr_assert_not_null(strstr(rig_heard(RIG_MAIN), "EVAL\r\n"));
	rig_say(RIG_MAIN, "-OOM command not allowed\r\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_not_null(strstr(rig.errors[1], "no memory left"));
}

Test(redis_shapes, an_unknown_script_is_not_sent_again_by_itself)
{
	expect_again(DLKI_ATTEMPT);
	expect_again(DLKI_RENEW);
	expect_again(DLKI_RELEASE);
	expect_again(DLKI_DOWNGRADE);
	expect_again(DLKI_WATCH);
	expect_again(DLKI_REVOKE);
	expect_again(DLKI_BREAK);
	expect_again(DLKI_INSPECT);
	expect_again(DLKI_RESIZE);
}
