/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread runs the loop: on the kernel's sockets, with a server beside. */
#include <criterion/criterion.h>

#include "core/base/clock.h"
#include "core/base/due.h"
#include "support/wait.h"
#include "tests/loop/driven.h"

TestSuite(drive, .fini = teardown);

/* Another thread may have led when the first call began, and the answer been
 * there before the call had to wait. */
Test(drive, a_wait_for_an_answer_begins_with_what_is_to_be_told, .init = setup)
{
	struct dlki_due due;

	dlki_due_init(&due);
	cr_assert_geq(dlki_due_fd(&due), 0);
	dlki_due_await();
	dlki_due_tell_soon(&due);
	cr_assert_not(is_readable(dlki_due_fd(&due), 0));
	for (int i = 0; i < 50 && !is_readable(dlki_due_fd(&due), 0); i++) {
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
		cr_assert_eq(call(DLKI_RELEASE, 1), DLKI_ANSWERED);
	}
	cr_assert(is_readable(dlki_due_fd(&due), 0));
	dlki_due_destroy(&due);
}

Test(drive, an_idle_engine_sleeps, .init = setup)
{
	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	EVENTUALLY(turns_in_a_while() == 0);
}

/* ---- Successors ---------------------------------------------------------- */

Test(drive, a_late_leader_leads_no_longer, .init = setup)
{
	struct dlki_waiter w;

	cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	dlki_waiter_init(&w);
	cr_assert_eq(dlki_lock(engine), 0);
	cr_assert(!dlki_drive(engine, &w, dlk_now() + 20 * DLK_MS));
	dlki_unlock(engine);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
}

Test(drive, a_leader_that_leaves_names_a_follower, .init = setup)
{
	struct thread t[3];

	start_leader(&t[0]);
	for (int i = 1; i < 3; i++) {
		start(&t[i]);
		EVENTUALLY(is_asleep(&t[i]));
	}
	for (int i = 0; i < 3; i++) {
		end_wait(&t[i]);
		if (i < 2)
			cr_assert(!is_asleep(&t[i + 1]), "%d", i);
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	}
}

/* ---- Seats --------------------------------------------------------------- */

/* Threads that share a condition are woken together. */
Test(drive, each_of_many_sleepers_is_woken, .init = setup)
{
	enum { MANY = 150 };
	static struct thread t[MANY];

	start_leader(&t[0]);
	for (int i = 1; i < MANY; i++) {
		start(&t[i]);
		EVENTUALLY(is_asleep(&t[i]));
	}
	for (int i = MANY - 1; i >= 0; i--) {
		dlk_time begun = dlk_now();

		end_wait(&t[i]);
		cr_assert_lt(dlk_now() - begun, 1000 * slowness() * DLK_MS,
			     "%d", i);
	}
}

/* Without a wake a sleeper looks again after five seconds. */
Test(drive, a_leader_that_waits_on_has_woken_the_follower, .init = setup)
{
	struct thread t;
	dlk_time begun;

	start_leader(&t);
	begun = dlk_now();
	for (int i = 0; i < 5; i++)
		cr_assert_eq(call(DLKI_ATTEMPT, 1), DLKI_GRANTED);
	cr_assert_lt(dlk_now() - begun, 1000 * slowness() * DLK_MS);
	end_wait(&t);
}
