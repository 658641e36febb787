/* SPDX-License-Identifier: Apache-2.0 */
/* Claims passed from thread to thread of a client. */
#include "core/passing.h"

TestSuite(pass, .init = timed_fixture, .timeout = 60);

CASE(pass, asks_the_store_for_nothing_and_keeps_the_order)
{
	enum { N = 5 };
	struct taker t[N] = { { 0 } };
	uint64_t last;

	given_hold("fakewant:?ttl=20s");
	n_wait_here(t, N);
	ALL_ALONG(20, asked() == 1);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 1);
	last = dlock_token(hold);
	OK(dlock_release(hold));
	cr_assert_eq(have_had_it(t, N, last), last + N);
	last += N;
	cr_assert_eq(asked(), 1);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(fake_last(fake, FAKE_RELEASE).token_used, last);
	cr_assert_eq(stats(client).passed, N);
	cr_assert_eq(stats(client).granted, N + 1);
	cr_assert_eq(stats(client).released, N + 1);
	cr_assert_eq(stats(client).wait.count, N + 1);
	cr_assert_eq(stats(client).hold.count, N + 1);
	nothing_is_left();
	/* The next grant's token is above the tokens of all passed holds. */
	hold = take(lock);
	cr_assert_eq(dlock_token(hold), last + 1);
	OK(dlock_release(hold));
	cr_assert_eq(fake_last(fake, FAKE_RELEASE).token_used, 0);
}

/* The release comes while the store is asked to watch the claim. */
CASE(pass, waits_for_the_watch)
{
	struct taker t = { .linger = 1 };
	struct releaser r;

	given_unbound("fakewant:");
	hold = take(lock);
	FAKE_SCRIPT(fake, FAKE_WATCH, .gate = 1);
	taker_start(&t, lock, FOREVER);
	EVENTUALLY(fake_count(fake, FAKE_WATCH) == 1);
	releaser_start(&r, hold);
	EVENTUALLY(calls_under_way(client) == 2);
	ALL_ALONG(20, !r.done);
	fake_open_gate(fake);
	OK(releaser_join(&r));
	has_had_it(&t);
	cr_assert_eq(stats(client).passed, 1);
	cr_assert_eq(asked(), 1);
}

CASE(pass, needs_a_token)
{
	struct taker t[2] = { { 0 } };

	given_hold("fakewant:");
	FAKE_SCRIPT(fake, FAKE_WATCH, .tokens = -1, .times = FAKE_ALWAYS);
	n_wait_here(t, 2);
	cr_assert_eq(asked(), 3);
	OK(dlock_release(hold));
	have_had_it(t, 2, 0);
	cr_assert_eq(stats(client).passed, 0);
	fake_clear(fake);
}

/* Checks that each waiter asks the store when the watch fails. A silent store
 * would hold up the releases as well, so the script ends before. */
static void watch_fails(struct fake_step step, int answers)
{
	struct taker t[3] = { { 0 } };
	uint64_t passed = stats(client).passed;
	size_t before = asked();

	step.times = FAKE_ALWAYS;
	fake_script(fake, FAKE_WATCH, step);
	hold = take(lock);
	n_wait_here(t, 3);
	cr_assert_eq(asked(), before + 4);
	if (!answers)
		fake_clear(fake);
	OK(dlock_release(hold));
	have_had_it(t, 3, 0);
	cr_assert(!answers || stats(client).passed == passed);
	fake_clear(fake);
	nothing_is_left();
}

CASE(pass, needs_a_store_that_watches)
{
	given_mutex("fakewant:?close=100ms");
	watch_fails((struct fake_step){ .fault = FAKE_REFUSE }, 1);
	watch_fails((struct fake_step){ .fault = FAKE_CUT }, 1);
	watch_fails((struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_EDENIED },
		    1);
	watch_fails((struct fake_step){ .fault = FAKE_SILENT }, 0);
	watch_fails((struct fake_step){ .delay_ms = 10000 }, 0);
}

/* Checks that the waiter asks the store, and no watch is set. */
static void is_not_passed(void)
{
	struct taker t = { 0 };

	wait_here(&t, FOREVER);
	cr_assert_eq(asked(), 2);
	OK(dlock_release(hold));
	has_had_it(&t);
	cr_assert_eq(stats(client).passed, 0);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 2);
}

CASE(pass, is_not_for_a_store_that_cannot_tell)
{
	given_hold("fake:");
	is_not_passed();
}

CASE(pass, is_not_for_permits)
{
	given_semaphore("fakewant:", 1);
	hold = take(lock);
	is_not_passed();
}

CASE(pass, is_not_for_readers)
{
	given_rwlock("fakewant:");
	hold = take_shared(lock, 0);
	is_not_passed();
}

CASE(pass, is_not_for_a_try)
{
	struct taker t = { 0 };

	given_hold("fakewant:");
	taker_start(&t, lock, 0);
	cr_assert_eq(taker_join(&t), DLOCK_EBUSY);
	cr_assert_eq(asked(), 2);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 0);
	OK(dlock_release(hold));
	nothing_is_left();
}
