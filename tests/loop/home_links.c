/* SPDX-License-Identifier: Apache-2.0 */
/* Home with a second link, and servers that refuse the client. */
#include <criterion/criterion.h>
#include <errno.h>

#include "tests/loop/homes.h"

/* Both links are up: sockets 0 and 1. */
static void begin_with_ear(void)
{
	rig_init("ear", 1);
	rig_push();
	greet(0, 7000, "HI one\n");
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_say(0, "B 100 1\n");
	await(1, 7000);
	rig_connect(1);
	rig_say(1, "HI one\n");
	cr_assert_eq(rig.looked, 1);
}

Test(home, other_links_end_with_a_fail_over)
{
	begin_with_ear();
	lose(0);
	cr_assert(rig.world.socks[1].is_open);
	await(2, 7000);
	rig_connect(2);
	/* The word of the old server does not count any longer. */
	dlki_pushed(rig.e->store, 1, 2, 3, 500);
	script_says(&rig.world, 2, "HI two\n");
	rig_say(1, "P 1 2 3\n");
	cr_assert_eq(rig.moved, 1);
	cr_assert_eq(rig.pushed, 0);
	cr_assert(!rig.world.socks[1].is_open);
	await(3, 7000);
	cr_assert_eq(rig.world.socks[3].set, DLKI_NEWS);
}

Test(home, a_link_that_meets_another_server_has_the_main_one_look)
{
	begin_with_ear();
	lose(1);
	await(2, 7000);
	rig_connect(2);
	rig_say(2, "HI two\nP 1 2 3\n");
	cr_assert_eq(rig.looked, 1);
	cr_assert_eq(rig.pushed, 0);
	cr_assert(!rig.world.socks[0].is_open);
	cr_assert(!rig.world.socks[2].is_open);
	greet(3, 7000, "HI two\n");
	expect_up(2, 1);
	await(4, 7000);
}

Test(home, other_links_wait_for_the_main_one)
{
	begin_with_ear();
	rig.world.clock += 5000 * DLK_MS;
	script_ends(&rig.world, 0);
	rig_end(1);
	await(2, 7000);
	rig_turn();
	rig_turn();
	cr_assert_eq(rig.world.opened, 3);
	cr_assert_eq(rig.world.socks[2].set, DLKI_ANSWERS);
	greet(2, 7000, "HI one\n");
	await(3, 7000);
	cr_assert_eq(rig.world.socks[3].set, DLKI_NEWS);
}

/* ---- Refusals ------------------------------------------------------------ */

/* A password may be changed, and changed back. */
Test(home, that_refuses_us_later_is_asked_again)
{
	begin_at_home(7001);
	lose(0);
	rig_submit(1, DLKI_ATTEMPT, never);
	greet(1, 7001, "NO\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[1], "refused");
	cr_assert_eq(rig.down, 1);
	rig_submit(2, DLKI_ATTEMPT, never);
	cr_assert_eq(rig.ended[2], 0);
	greet(2, 7001, "HI one\n");
	expect_up(2, 0);
	cr_assert_str_eq(script_heard(&rig.world, 2), "A 2\n");
}

/* The refusal may be older than the op. */
Test(home, that_refuses_us_is_asked_again_for_an_op_that_came_later)
{
	begin_at_home(7001);
	lose(0);
	rig_submit(1, DLKI_ATTEMPT, never);
	await(1, 7001);
	rig_connect(1);
	rig_submit(2, DLKI_ATTEMPT, never);
	rig_say(1, "NO\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_eq(rig.ended[2], 0);
	rig_submit(3, DLKI_ATTEMPT, never);
	greet(2, 7001, "NO\n");
	cr_assert_eq(rig.ops[2].outcome, DLKI_FAILED);
	cr_assert_eq(rig.ops[3].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[3], "refused");
}

Test(home, that_refuses_us_fails_what_was_not_sent)
{
	begin_at_home(7001);
	script_room(&rig.world, 0, 0);
	rig_submit(1, DLKI_ATTEMPT, never);
	lose(0);
	cr_assert_eq(rig.ended[1], 0);
	greet(1, 7001, "NO\n");
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
}

Test(home, that_does_not_answer_is_not_called_unresolved)
{
	struct dlk_error why;

	rig_init_host("", "h.test", NULL);
	rig_push();
	named(7001, 0);
	await(0, 7001);
	dlki_engine_why(rig.e, &why);
	cr_assert_eq(why.code, 0, "%s", why.text);
}

Test(home, may_be_a_unix_socket)
{
	const struct dlki_address *to = &rig.world.socks[0].to;

	rig_init_host("", NULL, "/run/x.sock");
	rig_submit(1, DLKI_ATTEMPT, never);
	cr_assert_eq(rig.world.opened, 1);
	cr_assert_str_eq(to->to.un.sun_path, "/run/x.sock");
	script_ends(&rig.world, 0);
	rig_refuse(0, -ECONNREFUSED);
	expect_down(1, "/run/x.sock: Connection refused");
	cr_assert_eq(rig.ended[1], 0);
}

Test(home, may_be_a_socket_that_we_may_not_use)
{
	rig_init_host("", NULL, "/run/x.sock");
	rig.world.connect_error = -EACCES;
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_turn();
	cr_assert_eq(rig.ops[1].outcome, DLKI_FAILED);
	cr_assert_str_eq(rig.errors[1], "/run/x.sock: Permission denied");
}

Test(home, is_tried_again_when_this_process_is_short_of_descriptors)
{
	struct dlk_error why;

	rig_init("", 1);
	rig.world.connect_error = -EMFILE;
	rig_submit(1, DLKI_ATTEMPT, never);
	rig_turn();
	cr_assert_eq(rig.down, 1);
	dlki_engine_why(rig.e, &why);
	cr_assert_eq(why.code, DLOCK_EEXHAUSTED);
	cr_assert_eq(rig.ended[1], 0);
	rig.world.connect_error = 0;
	greet(0, 7000, "HI one\n");
	cr_assert_str_eq(script_heard(&rig.world, 0), "A 1\n");
}
