/* SPDX-License-Identifier: Apache-2.0 */
/* When a turn waits for an answer in await(), and the outcome. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/loop/rig.h"

/* Run a turn of a waiting thread.  1: in await(); 0: in wait(). */
static int turn_until(dlk_time until)
{
	int awaits = rig.world.awaits, waits = rig.world.waits;

	dlki_turn_for_answer(rig.e, DLKI_BIT(DLKI_ANSWERS), until);
	awaits = rig.world.awaits - awaits;
	cr_assert_eq(awaits + rig.world.waits - waits, 1);
	return awaits;
}

/* Up, with a request in flight. */
static void setup(void)
{
	rig_init_up("");
	rig_submit(1, DLKI_ATTEMPT, never);
}

TestSuite(await, .init = setup, .fini = rig_free);

Test(await, an_answer_needs_no_event)
{
	script_says(&rig.world, 0, "G 7\n");
	cr_assert(turn_until(never));
	cr_assert_eq(rig.ended[1], 1);
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);

	/* The late event of these bytes finds none left. */
	rig_submit(2, DLKI_RELEASE, never);
	rig_turn();
	script_says(&rig.world, 0, "A 1\n");
	cr_assert(turn_until(never));
	cr_assert_eq(rig.ended[2], 1);
}

Test(await, without_a_request_there_is_nothing_to_await)
{
	rig_say(0, "G 7\n");
	cr_assert_not(turn_until(rig.world.clock));
}

Test(await, a_link_that_was_awaited_in_vain_is_slow)
{
	cr_assert(turn_until(never));
	cr_assert_not(turn_until(rig.world.clock + 50 * DLK_MS));
	script_says(&rig.world, 0, "G 7\n");
	cr_assert_not(turn_until(never));
	cr_assert_eq(rig.ended[1], 1);
	rig_submit(2, DLKI_RELEASE, never);
	cr_assert(turn_until(never));
}

Test(await, what_is_due_soon_is_waited_for)
{
	cr_assert_not(turn_until(rig.world.clock + 5 * DLK_MS));
	rig_submit(2, DLKI_RELEASE, rig.world.clock + 5 * DLK_MS);
	cr_assert_not(turn_until(never));
	cr_assert_eq(rig.ended[2], 1);
}

Test(await, output_that_waits_for_room_is_waited_for)
{
	script_room(&rig.world, 0, 0);
	rig_submit(2, DLKI_RELEASE, never);
	cr_assert_not(turn_until(rig.world.clock));
	script_room(&rig.world, 0, SCRIPT_BYTES);
	cr_assert_not(turn_until(rig.world.clock));
	cr_assert(turn_until(never));
}

Test(await, a_second_link_of_the_set_is_waited_for)
{
	struct dlki_link *second;

	second = dlki_link_open(rig.e->store, DLKI_ANSWERS);
	cr_assert(turn_until(never));
	rig_say(0, "G 7\n");
	rig_submit(2, DLKI_RELEASE, never);
	dlki_want(second);
	rig_turn();
	cr_assert_not(turn_until(rig.world.clock));
}

Test(await, the_end_of_the_stream_closes_the_link)
{
	script_says(&rig.world, 0, "G 7\n");
	script_ends(&rig.world, 0);
	cr_assert(turn_until(never));
	cr_assert_eq(rig.ops[1].outcome, DLKI_GRANTED);
	rig_submit(2, DLKI_RELEASE, never);
	cr_assert(turn_until(never));
	cr_assert_not(rig.world.socks[0].is_open);
	cr_assert_eq(rig.ops[2].outcome, DLKI_UNANSWERED);
}

Test(await, more_than_a_buffer_is_read_in_the_next_turn)
{
	static char news[DLKI_INPUT + 4];

	for (size_t i = 0; i < sizeof(news); i += 4)
		memcpy(news + i, "W 4\n", 4);
	script_says_bytes(&rig.world, 0, news, sizeof(news));
	script_says(&rig.world, 0, "G 7\n");
	rig.world.socks[0].bits = 0;
	cr_assert(turn_until(never));
	cr_assert_not(turn_until(never));
	cr_assert_eq(rig.ended[1], 1);
}
