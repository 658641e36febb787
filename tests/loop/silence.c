/* SPDX-License-Identifier: Apache-2.0 */
/* A deadline comes without an answer: is the connection of any more use? */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/loop/rig.h"

TestSuite(silence, .init = rig_up, .fini = rig_free);

/* The server was heard last before the first request. */
static void setup(void)
{
	rig.world.clock += DLK_MS;
}

static dlk_time in_ms(int64_t ms)
{
	return rig.world.clock + ms * DLK_MS;
}

static void is_closed(void)
{
	struct dlk_error why;

	cr_assert_not(rig.world.socks[0].is_open);
	dlki_engine_why(rig.e, &why);
	cr_assert_eq(why.code, DLOCK_EUNREACHABLE);
	cr_assert(strstr(why.text, "no answer in time"), "%s", why.text);
}

/* An op behind has more time: the next connection gets the request. */
Test(silence, ends_the_connection, .init = setup)
{
	rig_submit(1, DLKI_ATTEMPT, in_ms(100));
	rig_submit(2, DLKI_ATTEMPT, DLK_FOREVER);
	rig_turn_until(in_ms(99));
	cr_assert_eq(rig.ended[1], 0);
	cr_assert(rig.world.socks[0].is_open);
	rig_turn_until(in_ms(1));
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	rig_turn();
	rig_turn();
	is_closed();
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
}

Test(silence, is_over_with_the_first_byte, .init = setup)
{
	rig_submit(1, DLKI_ATTEMPT, in_ms(100));
	rig_submit(2, DLKI_ATTEMPT, in_ms(100));
	rig_turn_until(in_ms(50));
	rig_say(0, "G");
	rig_turn_until(in_ms(50));
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	rig_turn();
	rig_turn();
	cr_assert(rig.world.socks[0].is_open);
	rig_say(0, " 1\nG 2\n");
	rig_submit(3, DLKI_ATTEMPT, in_ms(100));
	rig_say(0, "G 3\n");
	cr_assert_eq(rig.ops[3].token, 3);
}

/* After a stop the thread looks at the clock first, and then at the bytes. */
Test(silence, is_not_what_a_late_thread_finds, .init = setup)
{
	rig_submit(1, DLKI_ATTEMPT, in_ms(100));
	script_says(&rig.world, 0, "G 1\n");
	rig.world.clock += 200 * DLK_MS;
	rig_push();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	rig_turn();
	rig_turn();
	cr_assert(rig.world.socks[0].is_open);
}

/* The connection took 60 ms, so an answer may take a while. */
Test(silence, of_a_server_far_away_ends_nothing)
{
	rig_init("", 1);
	rig_push();
	rig.world.clock += 30 * DLK_MS;
	rig_connect(0);
	rig.world.clock += 30 * DLK_MS;
	rig_say(0, "HI\n");
	rig.world.clock += DLK_MS;
	rig_submit(1, DLKI_ATTEMPT, in_ms(100));
	rig_turn_until(in_ms(100));
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	rig_turn();
	rig_turn();
	cr_assert(rig.world.socks[0].is_open);
	rig_submit(2, DLKI_ATTEMPT, in_ms(120));
	rig_turn_until(in_ms(120));
	rig_turn();
	rig_turn();
	is_closed();
}

/* The claim wants the lock no longer, and no op waits. */
Test(silence, after_a_cancelled_op_says_nothing, .init = setup)
{
	rig_submit(1, DLKI_ATTEMPT, DLK_FOREVER);
	rig_turn_until(in_ms(100));
	dlki_cancel(&rig.ops[1]);
	rig_turn();
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_UNANSWERED);
	cr_assert(rig.world.socks[0].is_open);
}
