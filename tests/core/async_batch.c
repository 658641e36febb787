/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous calls whose requests share a round trip. */
#include "core/calls.h"

TestSuite(async_batch, .init = timed_fixture, .timeout = 60);

enum { N = 4 };

static struct outcome first, o[N], given[N];
static dlock_op op[N];
static dlock_lock *other[N];

/* Begins N calls while the async job is in the store with another call. The
 * first call has no timeout. */
static void given_calls(const char *uri, int64_t timeout_ms)
{
	char name[] = "b0";

	given_looped(uri);
	stick(fake, client, &first, FAKE_WORK);
	for (int i = 0; i < N; i++) {
		name[1] = (char)('0' + i);
		other[i] = unbound(client, name);
		op[i] = ask_async(&o[i], other[i], i ? timeout_ms : -1);
	}
	cr_assert_eq(fake_count(fake, FAKE_LATER), 0);
}

/* Lets the async job go on, into the first attempt. */
static void stick_again(void)
{
	size_t before = fake_count(fake, FAKE_ATTEMPT);

	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1, .fault = FAKE_REFUSE);
	fake_open_gate(fake);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) > before);
}

/* Begins N calls, which the store grants together with the call before. */
static void given_grants(const char *uri)
{
	given_calls(uri, -1);
	fake_open_gate(fake);
	for (int i = 0; i < N; i++) {
		cr_assert_eq(outcome_of(&o[i]), DLOCK_OK, "%s", o[i].text);
		cr_assert_gt(dlock_token(o[i].hold), 0);
	}
	OK(outcome_of(&first));
}

/* Begins the releases of the N holds while the async job is in the store
 * with another release. */
static void begin_releases(void)
{
	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1);
	OK(dlock_release_start(first.hold, NULL, NULL));
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	for (int i = 0; i < N; i++)
		give_async(&given[i], o[i].hold);
}

CASE(async_batch, releases_go_together_and_before_attempts)
{
	static struct outcome again[N];
	size_t before;

	given_grants("fakebatch:?close=30s&connect=30s");
	begin_releases();
	before = fake_count(fake, FAKE_LATER);
	for (int i = 0; i < N; i++)
		ask_async(&again[i], other[i], -1);
	fake_open_gate(fake);
	for (int i = 0; i < N; i++)
		OK(outcome_of(&given[i]));
	for (int i = 0; i < N; i++)
		OK(outcome_of(&again[i]));
	cr_assert_eq(fake_count(fake, FAKE_LATER), before + 2 * N);
	for (size_t i = 0; i < 2 * N; i++)
		cr_assert_eq(fake_nth(fake, FAKE_LATER, before + i).n, i >= N,
			     "%zu", i);
	/* Each asked once: the lock was free. */
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 1 + 2 * N);
	cr_assert_eq(fake_held(fake), N);
	for (int i = 0; i < N; i++)
		OK(dlock_release(again[i].hold));
}

CASE(async_batch, a_single_call_asks_by_itself)
{
	given_loop("fakebatch:");
	ask_async(&o[0], lock, -1);
	OK(outcome_of(&o[0]));
	give_async(&o[1], o[0].hold);
	OK(outcome_of(&o[1]));
	cr_assert_eq(fake_count(fake, FAKE_LATER), 0);
}

/* A thread came after the second call, and waits for the first call's hold to
 * be passed on; the second call is asking the store. */
CASE(async_batch, a_hold_is_passed_over_no_earlier_call)
{
	struct taker late = { .linger = 1 };

	given_loop("fakewantbatch:?close=30s&connect=30s&ask=30s");
	stick(fake, client, &first, FAKE_WORK);
	for (int i = 0; i < 2; i++)
		ask_async(&o[i], lock, -1);
	fake_once(fake, FAKE_ATTEMPT, FAKE_WORK);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1);
	fake_open_gate(fake);
	OK(outcome_of(&o[0]));
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 3);
	taker_waits(&late, FOREVER);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 1);
	OK(dlock_release(o[0].hold));
	cr_assert_eq(stats(client).passed, 0);
	fake_open_gate(fake);
	OK(dlock_release(granted(&o[1])));
	OK(let_go(&late));
	OK(dlock_release(granted(&first)));
}

/* The store may still get the request. */
CASE(async_batch, a_cancelled_call_is_cleaned_up_for_a_lease)
{
	given_calls("fakebatch:?ttl=60s&ask=30s&close=30s&connect=30s", -1);
	stick_again();
	OK(dlock_cancel_op(client, op[1]));
	fake_once(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	fake_open_gate(fake);
	over(&o[1], DLOCK_ECANCELED, "");
	cr_assert_eq(stats(client).pending_cleanups, 1);
	OK(dlock_release(granted(&first)));
	for (int i = 0; i < N; i++) {
		if (i != 1)
			OK(dlock_release(granted(&o[i])));
	}
}
