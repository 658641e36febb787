/* SPDX-License-Identifier: Apache-2.0 */
/* Questions and releases of a client whose async job does not come back from
 * the store, and calls of another client. */
#include "core/calls.h"

TestSuite(async_stuck, .init = timed_fixture, .timeout = 60);

static struct outcome asks, o;

static void given_stuck_call(struct outcome *stuck)
{
	given_loop("fake:?ask=50ms&close=30s&connect=30s");
	stick(fake, client, stuck, FAKE_REFUSE);
}

/* The clients share a thread. */
CASE(async_stuck, delays_no_other_client)
{
	static struct outcome stuck;
	dlock_client *other = closed_at_end(open_store("mem:", NULL));

	given_stuck_call(&stuck);
	outcomes_process(other);
	for (int i = 0; i < 3; i++) {
		ask_async(&o, unbound(other, "b"), 0);
		OK(dlock_release(granted(&o)));
		o = (struct outcome){ 0 };
	}
	cr_assert(outcome_pending(&stuck));
	fake_open_gate(fake);
	OK(dlock_release(granted(&stuck)));
}

CASE(async_stuck, questions_end_in_time)
{
	static struct outcome stuck, o[2];
	dlk_time begun;

	given_stuck_call(&stuck);
	begun = dlk_now();
	OK(dlock_break_start(lock, 40, outcome_note, &o[0]));
	OK(dlock_inspect_start(lock, count_participant, 80, outcome_note,
			       &o[1]));
	for (int i = 0; i < 2; i++)
		over(&o[i], DLOCK_EUNREACHABLE,
		     "'a': the store did not answer other requests");
	cr_assert_lt(dlk_now(), late(begun + 2000 * DLK_MS));
	cr_assert(outcome_pending(&stuck));
	cr_assert_eq(fake_count(fake, FAKE_BREAK), 0);
	fake_open_gate(fake);
	OK(dlock_release(granted(&stuck)));
}

/* The call waits for a hold of its own client, and never asks the store. */
CASE(async_stuck, an_acquire_behind_our_own_hold_is_busy)
{
	static struct outcome stuck;

	given_loop("fakewant:?ask=50ms&close=30s&connect=30s");
	hold = take(lock);
	stick(fake, client, &stuck, FAKE_REFUSE);
	ask_async(&o, lock, 20);
	over(&o, DLOCK_EBUSY, "'a': held by this process itself");
	cr_assert_eq(stats(client).busy, 1);
	fake_open_gate(fake);
	OK(dlock_release(granted(&stuck)));
	OK(dlock_release(hold));
}

/* The store answers, and the calls before take the time of the question. */
CASE(async_stuck, a_question_asks_when_its_turn_comes)
{
	static struct outcome before[4], o;
	char name[] = "b0";

	given_loop("fake:?ask=200ms&close=30s&connect=30s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .delay_ms = 80, .times = 4);
	for (int i = 0; i < 4; i++) {
		name[1] = (char)('0' + i);
		ask_async(&before[i], unbound(client, name), -1);
	}
	FAKE_SCRIPT(fake, FAKE_BREAK, .delay_ms = 20);
	OK(dlock_break_start(lock, 0, outcome_note, &o));
	OK(outcome_of(&o));
	for (int i = 0; i < 4; i++)
		OK(dlock_release(granted(&before[i])));
}

/* Takes "a". */
static void given_brief_close(void)
{
	given_loop("fake:?ttl=60s&ask=50ms&close=200ms&connect=30s");
	hold = take(lock);
}

/* Begins a question that has half a minute. */
static void ask_at_length(struct outcome *asks)
{
	FAKE_SCRIPT(fake, FAKE_BREAK, .gate = 1, .fault = FAKE_REFUSE);
	OK(dlock_break_start(unbound(client, "b"), 30000, outcome_note, asks));
	EVENTUALLY(fake_count(fake, FAKE_BREAK) == 1);
}

static void given_question(struct outcome *asks)
{
	given_brief_close();
	ask_at_length(asks);
}

/* The callback returns while the store is asked. */
CASE(async_stuck, a_release_behind_a_callback_does_not_wait_for_a_question)
{
	events_call(hold_up);
	given_brief_close();
	lose_last();
	EVENTUALLY(atomic_load(&inside) == 1);
	give_async(&o, hold);
	ask_at_length(&asks);
	atomic_store(&go, 1);
	over(&o, DLOCK_ELOST, "was lost");
	cr_assert(outcome_pending(&asks));
	fake_open_gate(fake);
	over(&asks, DLOCK_EUNREACHABLE, "");
}

CASE(async_stuck, a_release_of_a_multi_lock_does_not_wait_for_a_long_question)
{
	given_question(&asks);
	OK(dlock_release(hold));
	hold = take(multi((dlock_lock *[]){ lock, unbound(client, "c") }, 2));
	give_async(&o, hold);
	over(&o, DLOCK_EUNREACHABLE, "did not answer other requests");
	EVENTUALLY(fake_held(fake) == 0);
	cr_assert(outcome_pending(&asks));
	fake_open_gate(fake);
	over(&asks, DLOCK_EUNREACHABLE, "");
}
