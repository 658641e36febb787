/* SPDX-License-Identifier: Apache-2.0 */
/* A pumped set: a turn follows when the descriptor is readable, and no turn
 * waits. */
#include <criterion/criterion.h>
#include <string.h>

#include "core/loop/drive.h"
#include "tests/loop/rig.h"

enum { EAR = 1 };

/* The ear is up, and listens at socket 1. */
static void setup(void)
{
	rig_init_up("ear");
	rig_submit(1, DLKI_ATTEMPT, DLK_FOREVER);
	rig_say(0, "B 100 1\n");
	rig_push();
	cr_assert_eq(rig.world.opened, 2);
	script_connected(&rig.world, EAR);
	dlki_drive_pump(rig.e);
	cr_assert_str_eq(script_heard(&rig.world, EAR), "EAR\n");
	script_says(&rig.world, EAR, "EAR\n");
	dlki_drive_pump(rig.e);
	cr_assert_eq(rig.looked, 1);
}

TestSuite(pump, .init = setup, .fini = rig_free);

Test(pump, takes_in_the_news_and_no_answers)
{
	dlk_time clock = rig.world.clock;

	rig_submit(2, DLKI_ATTEMPT, DLK_FOREVER);
	script_says(&rig.world, 0, "G 2\n");
	script_says(&rig.world, EAR, "P 1 9 8\n");
	dlki_drive_pump(rig.e);
	cr_assert_eq(rig.pushed, 1);
	cr_assert_eq(rig.ended[2], 0);
	dlki_drive_pump(rig.e);
	cr_assert_eq(rig.world.clock, clock, "the pump has waited");
	cr_assert_eq(rig.world.kicks[DLKI_NEWS], 0, "the set is empty");
	rig_turn();
	cr_assert_eq(rig.ended[2], 1);
}

/* Sockets are edge-triggered: without the kick no event comes for the rest. */
Test(pump, makes_the_set_ready_for_what_is_left)
{
	static char wakes[DLKI_INPUT + 4 * 64];
	int pumps = 0;

	for (size_t i = 0; i < sizeof(wakes); i += 4)
		memcpy(wakes + i, "W 1\n", 4);
	script_says_bytes(&rig.world, EAR, wakes, sizeof(wakes));
	do {
		dlki_drive_pump(rig.e);
		pumps++;
	} while (rig.world.kicks[DLKI_NEWS] > 0);
	cr_assert_geq(pumps, 2);
	cr_assert_eq(rig.woken, (int)(sizeof(wakes) / 4));
}
