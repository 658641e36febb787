/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting asynchronous calls: a wake, and the times to ask again. */
#include "core/calls.h"

#include <stdio.h>

TestSuite(async_woken, .init = timed_fixture, .timeout = 60);

enum { N = 80, LOOK_MS = 20 };

static struct outcome first, other, o[N];
static char name[N][16];

/* Begins `n` calls for busy locks, and returns when all wait.  With `look_ms`,
 * the time to ask again comes, and the async job is in the store with the
 * first call that asks again. */
static void given_waiters(int n, int64_t look_ms)
{
	given_looped("fake:?close=30s&connect=30s");
	stick(fake, client, &first, FAKE_WORK);
	for (int i = 0; i < n; i++) {
		snprintf(name[i], sizeof(name[i]), "w%d", i);
		fake_occupy(fake, DLK_LOCK, name[i], 0);
		ask_async(&o[i], unbound(client, name[i]), -1);
	}
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .look_ms = look_ms, .times = n);
	if (look_ms > 0)
		FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1);
	fake_open_gate(fake);
	OK(outcome_of(&first));
	if (look_ms > 0)
		EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == (size_t)n + 2);
	else
		EVENTUALLY(stats(client).waiters == (uint64_t)n);
}

static uint64_t asked(int i)
{
	return fake_nth(fake, FAKE_ATTEMPT, (size_t)i).id;
}

/* Releases the holds of the calls. */
static void give_all(int n)
{
	for (int i = 0; i < n; i++) {
		OK(outcome_of(&o[i]));
		OK(dlock_release(o[i].hold));
	}
	OK(dlock_release(first.hold));
}

/* The attempts: the first call, 0 to 3, then 0 to 3 again, but 3 is woken while
 * 1 asks and 2 is to ask. */
CASE(async_woken, overtakes_calls_that_ask_again)
{
	dlk_time past;

	given_waiters(4, LOOK_MS);
	past = fake_nth(fake, FAKE_ATTEMPT, 4).end + 2 * LOOK_MS * DLK_MS;
	EVENTUALLY(dlk_now() > past);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1);
	fake_open_gate(fake);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 7);
	cr_assert_eq(asked(6), asked(2));
	fake_vacate(fake, DLK_LOCK, name[3]);
	fake_open_gate(fake);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 9);
	cr_assert_eq(asked(7), asked(4));
	cr_assert_eq(asked(8), asked(3));
	for (int i = 0; i < 3; i++)
		fake_vacate(fake, DLK_LOCK, name[i]);
	give_all(4);
}

CASE(async_woken, leaves_a_turn_to_the_calls_that_were_not_woken)
{
	static struct outcome again;

	given_waiters(N, 0);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1);
	ask_async(&again, unbound(client, "again"), -1);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == N + 2);
	ask_async(&other, unbound(client, "other"), -1);
	for (int i = 0; i < N; i++)
		fake_vacate(fake, DLK_LOCK, name[i]);
	fake_open_gate(fake);
	give_all(N);
	OK(outcome_of(&again));
	OK(outcome_of(&other));
	cr_assert_lt(other.order, o[N - 1].order);
	cr_assert_gt(other.order, o[0].order);
	OK(dlock_release(again.hold));
	OK(dlock_release(other.hold));
}
