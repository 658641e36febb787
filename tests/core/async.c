/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls: ends, callbacks and the store's silence. */
#include "core/calls.h"

#include "core/log.h"

TestSuite(async, .init = timed_fixture, .timeout = 60);

static struct outcome o, first;

static void given_loop_hold(const char *uri)
{
	given_hold(uri);
	outcomes_process(client);
}

static void close_loop(int64_t most_ms)
{
	outcomes_leave(client);
	close_client_within(most_ms);
}

CASE(async, bad_arguments_are_refused)
{
	dlock_client *none = NULL;
	dlock_op op = 0;

	given_mutex("fake:");
	INVALID(dlock_acquire_start(NULL, 0, outcome_note, &o, &op),
		"lock is NULL");
	INVALID(dlock_acquire_start(lock, 0, NULL, &o, &op), "done is NULL");
	INVALID(dlock_acquire_shared_start(lock, 0, outcome_note, &o, &op),
		"read side");
	INVALID(dlock_acquire_start(lock, 0, outcome_note, &o, &op),
		"dlock_lock_unbind");
	INVALID(dlock_acquire_start(unbound(client, "b"), -7, outcome_note, &o,
				    &op),
		"timeout_ms");
	INVALID(dlock_release_start(NULL, NULL, NULL), "hold is NULL");
	INVALID(dlock_inspect_start(NULL, count_participant, 0, outcome_note,
				    &o),
		"lock is NULL");
	INVALID(dlock_break_start(lock, -7, outcome_note, &o), "timeout_ms");
	INVALID(dlock_open_start(NULL, NULL, &none, outcome_note, &o),
		"uri is NULL");
	INVALID(dlock_open_start("fake:", NULL, NULL, outcome_note, &o),
		"out is NULL");
	INVALID(dlock_open_start("fake:", NULL, &none, NULL, &o),
		"done is NULL");
	INVALID(dlock_close_start(NULL, outcome_note, &o), "client is NULL");
	INVALID(dlock_client_fd(NULL), "client is NULL");
	INVALID(dlock_process(NULL, 0), "client is NULL");
	INVALID(dlock_wait(NULL, 0), "client is NULL");
	INVALID(dlock_cancel_op(NULL, 1), "client is NULL");
	INVALID(dlock_cancel_op(client, 1), "number");
	cr_assert_eq(dlock_pending(NULL), 0);
	cr_assert_eq(dlock_due_ms(NULL), -1);
	cr_assert_eq(op, 0);
	cr_assert_null(none);
	cr_assert(outcome_pending(&o));
}

/* ---- The store does not answer ------------------------------------------- */

#define STUCK "fake:?ask=50ms&close=30s&connect=30s"

CASE(async, that_are_cancelled_at_a_stuck_store_end_soon)
{
	static struct outcome first, one, other;
	dlock_op op;

	given_loop(STUCK);
	stick(fake, client, &first, FAKE_REFUSE);
	op = ask_async(&one, lock, -1);
	ask_async(&other, lock, -1);
	OK(dlock_cancel_op(client, op));
	over(&one, DLOCK_ECANCELED, "cancelled");
	cr_assert(outcome_pending(&first) && outcome_pending(&other));
	fake_open_gate(fake);
	OK(dlock_release(granted(&other)));
	close_loop(5000);
}

/* Either waits or has yet to ask. */
CASE(async, of_a_cancelled_handle_end_soon_at_a_stuck_store)
{
	static struct outcome first, waits, unasked;

	given_loop(STUCK);
	fake_occupy(fake, DLK_LOCK, "a", 0);
	ask_async(&waits, lock, -1);
	EVENTUALLY(stats(client).waiters == 1);
	stick(fake, client, &first, FAKE_REFUSE);
	ask_async(&unasked, lock, -1);
	dlock_cancel(lock);
	over(&waits, DLOCK_ECANCELED, "cancelled");
	over(&unasked, DLOCK_ECANCELED, "cancelled");
	cr_assert(outcome_pending(&first));
	fake_open_gate(fake);
	close_loop(5000);
}

/* The waiter's next attempt is due while the store is stuck. */
CASE(async, that_were_refused_say_so_at_a_stuck_store)
{
	given_loop(STUCK);
	fake_occupy(fake, DLK_LOCK, "a", 0);
	ask_async(&o, lock, 300);
	EVENTUALLY(stats(client).waiters == 1);
	stick(fake, client, &first, FAKE_REFUSE);
	over(&o, DLOCK_EBUSY, "not at the deadline");
	cr_assert_eq(stats(client).waiters, 0);
	fake_open_gate(fake);
	close_loop(5000);
}

/* Each call asks the store once more at the end. */
CASE(async, that_end_together_end_in_time)
{
	enum { N = 100 };
	static struct outcome o[N];

	given_loop("fake:?ttl=1s&ask=50ms&close=30s&connect=30s");
	fake_occupy(fake, DLK_LOCK, "a", 0);
	for (int i = 0; i < N; i++)
		ask_async(&o[i], lock, 500);
	EVENTUALLY(stats(client).waiters == N);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .delay_ms = 30, .times = FAKE_ALWAYS);
	for (int i = 0; i < N; i++)
		over(&o[i], DLOCK_EBUSY, "held by others");
	/* dlock-loop ended most calls before another attempt. */
	cr_assert_lt(fake_count(fake, FAKE_ATTEMPT), N + N / 2);
	fake_clear(fake);
	/* A late attempt may arrive after the case, and is cleaned up for a
	 * lease. */
	EVENTUALLY(stats(client).pending_cleanups == 0);
	close_loop(5000);
}

/* The store answers each attempt, but all attempts take longer than a try has.
 *  */
CASE(async, that_come_too_late_to_the_store_ask_once)
{
	enum { N = 8 };
	static struct outcome before[N], try;
	char name[] = "b0";

	given_loop("fake:?ask=200ms&close=30s&connect=30s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .delay_ms = 60, .times = N + 1);
	for (int i = 0; i < N; i++) {
		name[1] = (char)('0' + i);
		ask_async(&before[i], unbound(client, name), -1);
	}
	ask_async(&try, lock, 0);
	OK(dlock_release(granted(&try)));
	for (int i = 0; i < N; i++)
		OK(dlock_release(granted(&before[i])));
}

CASE(async, a_closing_client_ends_them_at_a_stuck_store)
{
	static struct outcome first, o[20];

	given_loop("fake:?ask=50ms&close=500ms&connect=30s");
	stick(fake, client, &first, FAKE_REFUSE);
	for (int i = 0; i < 20; i++)
		ask_async(&o[i], lock, -1);
	close_loop(3000);
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(o[i].calls, 1);
		over(&o[i], DLOCK_ECANCELED, "closed");
	}
	cr_assert_eq(first.calls, 1);
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 1);
}

/* ---- Callbacks ----------------------------------------------------------- */

/* The release waits behind a call at the stuck store. */
CASE(async, a_hold_that_is_being_released_gets_no_events)
{
	events_follow(&o);
	given_loop_hold("fake:?ttl=60s&ask=50ms&close=30s&connect=30s");
	stick(fake, client, &first, FAKE_REFUSE);
	give_async(&o, hold);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, 0).id);
	EVENTUALLY(stats(client).lost == 1);
	fake_open_gate(fake);
	over(&o, DLOCK_ELOST, "was lost");
	OK(dlock_release(granted(&first)));
	cr_assert_eq(events, 0);
}

/* The thread with the hold does not re-enter meanwhile. */
CASE(async, a_hold_that_is_being_released_is_not_taken_again)
{
	dlock_hold *again;

	given_loop_hold("fake:?ttl=60s&ask=50ms&close=30s&connect=30s");
	stick(fake, client, &first, FAKE_REFUSE);
	give_async(&o, hold);
	cr_assert_eq(dlock_acquire(lock, 0, &again), DLOCK_EBUSY);
	cr_assert(outcome_pending(&o));
	fake_open_gate(fake);
	OK(outcome_of(&o));
	OK(dlock_release(take(lock)));
	OK(dlock_release(granted(&first)));
}

/* ---- In turn ------------------------------------------------------------- */

static atomic_int told;

static void asks_again(const struct dlock_result *r, void *arg)
{
	(void)arg;
	OK(r->code);
	OK(dlock_release(r->hold));
	if (++told == 3)
		return;
	OK(dlock_acquire_start(lock, -1, asks_again, NULL, NULL));
	EVENTUALLY(stats(client).holds == 1);
	EVENTUALLY(dlock_due_ms(client) == 0);
}

/* A callback that begins another call does not keep dlock_process() busy. */
CASE(async, what_was_due_at_first_is_processed_and_no_more)
{
	given_loop("fake:");
	OK(dlock_acquire_start(lock, -1, asks_again, NULL, NULL));
	EVENTUALLY(dlock_due_ms(client) == 0);
	for (int i = 1; i < 4; i++) {
		cr_assert_eq(dlock_process(client, 0), i < 3);
		cr_assert_eq(told, i);
	}
}

/* Nor do callbacks keep events and lines of the log waiting. */
CASE(async, events_and_lines_have_their_turn)
{
	static struct outcome o[4];

	events_follow(&o[0]);
	given_loop("fake:?ttl=60s");
	hold = take(unbound(client, "held"));
	OK(dlock_events_by_process(client));
	lose_last();
	EVENTUALLY(stats(client).lost == 1);
	for (int i = 0; i < 4; i++)
		ask_async(&o[i],
			  unbound(client,
				  (const char *[]){ "w", "x", "y", "z" }[i]),
			  -1);
	EVENTUALLY(stats(client).holds == 4);
	dlki_log(client, DLKI_WARNING, "a line");
	cr_assert(!diary_says(&diary, "a line"));
	cr_assert_eq(events, 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(dlock_process(client, 1), 1);
	cr_assert_eq(events, 1);
	cr_assert(diary_says(&diary, "a line"));
	for (int i = 0; i < 4; i++)
		OK(dlock_release(granted(&o[i])));
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}
