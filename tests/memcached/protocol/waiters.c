/* SPDX-License-Identifier: Apache-2.0 */
/* Waiters of the memcached protocol: looks and wishes. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/memcached/protocol/rig.h"

TestSuite(memcached_waiters, .init = rig_up, .fini = rig_end);

#define WISH "dlock1 " RIG_OTHER " 0.1 0 me"

static void refuse(int i)
{
	rig_heard(RIG_MAIN);
	rig_say_all("NOT_STORED\r\n", rig_got(THEIRS, 6), NONE, NULL);
	cr_assert_eq(rig.ops[i].outcome, DLKI_BUSY);
}

Test(memcached_waiters, the_first_looks_of_a_wait_come_soon)
{
	/* By the digits of the owner, 0: half of 1, 2, 4 ... ms and a bit. */
	static const int64_t pauses[] = { 1, 1, 2, 4, 9, 0, 0 };

	for (int i = 0; i < 7; i++) {
		rig_submit(0, DLKI_ATTEMPT);
		refuse(0);
		cr_assert_eq(rig.ops[0].look_in_ms, pauses[i], "%d: %d", i,
			     (int)rig.ops[0].look_in_ms);
		rig.world.clock += 20 * DLK_MS;
	}
}

Test(memcached_waiters, a_range_of_the_uri_holds_from_the_first_look_on)
{
	rig_begin_up("&retry_max=50ms", 1);
	rig_submit(0, DLKI_ATTEMPT);
	refuse(0);
	cr_assert_eq(rig.ops[0].look_in_ms, 0);
}

/* Waiters of a client share answers, but for the last look. */
Test(memcached_waiters, one_waiter_looks_for_all)
{
	struct dlk_request other = rig_request;

	other.owner = "00000000000000000000000000000002";
	rig.ops[1].request = &other;
	rig_submit(0, DLKI_ATTEMPT);
	refuse(0);
	rig_submit(1, DLKI_ATTEMPT); /* the first asks for itself */
	refuse(1);
	rig_submit(0, DLKI_ATTEMPT);
	rig_expect("");
	rig_turn();
	cr_assert_eq(rig.ended[0], 2);
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
	rig.ops[0].is_last = 1;
	rig_submit(0, DLKI_ATTEMPT);
	cr_assert_not_null(strstr(rig_heard(RIG_MAIN), MG MG_MARK));
}

/* After a second of the same owner. */
Test(memcached_waiters, a_waiter_leaves_a_wish)
{
	rig_submit(0, DLKI_ATTEMPT);
	refuse(0);
	rig.world.clock += 1000 * DLK_MS;
	rig_submit(0, DLKI_ATTEMPT);
	rig_heard(RIG_MAIN);
	rig_say_all(rig_stats(0, 101), "NOT_STORED\r\n", rig_got(THEIRS, 6),
		    NONE, NULL);
	cr_assert_eq(rig.ended[0], 1);
	rig_expect("mg " RIG_KEY ".w v c t\r\n");
	rig_say_slowly(RIG_MAIN, NONE);
	rig_expect("add " RIG_KEY ".w 0 600 48\r\n" WISH "\r\n"
		   "mg " RIG_KEY ".w v c t\r\n");
	rig_say_all("STORED\r\n", rig_got(WISH, 9), NULL);
	cr_assert_eq(rig.ended[0], 2);
	cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
	rig.world.clock += 1000 * DLK_MS;
	rig_submit(0, DLKI_ATTEMPT);
	rig_heard(RIG_MAIN);
	rig_say_all(rig_stats(0, 102), "NOT_STORED\r\n", rig_got(THEIRS, 6),
		    NONE, NULL);
	cr_assert_eq(rig.ended[0], 3, "and leaves no second one");
}

Test(memcached_waiters, an_item_of_others_is_told_of)
{
	for (int i = 1; i < 3; i++) {
		rig.ops[0].is_last = 1;
		rig_submit(0, DLKI_ATTEMPT);
		rig_say_all("NOT_STORED\r\n", rig_got("hello", 6), NONE, NULL);
		cr_assert_eq(rig.ops[0].outcome, DLKI_BUSY);
		cr_assert_not_null(strstr(rig.errors[0],
					  "'" RIG_KEY "' is none "
					  "that dlock wrote"));
		cr_assert_eq(rig.warned, 1, "once");
		rig.errors[0][0] = '\0';
	}
}
