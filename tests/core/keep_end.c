/* SPDX-License-Identifier: Apache-2.0 */
/* Kept claims: losses, clean-ups and renewals. */
#include "core/passing.h"

TestSuite(keep_end, .init = timed_fixture, .timeout = 120);

static void given_kept(const char *uri)
{
	given_mutex(uri);
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).kept, 1);
}

/* No event comes, since no thread held the claim. The next acquire asks the
 * store. */
static void is_worth_nothing(void)
{
	EVENTUALLY(stats(client).kept == 0);
	hold = take(lock);
	cr_assert_eq(asked(), 2);
	cr_assert_eq(stats(client).retaken, 0);
	cr_assert_eq(stats(client).lost, 0);
	cr_assert_eq(diary.n, 0);
	OK(dlock_release(hold));
}

CASE(keep_end, by_a_loss_is_nobody_s_loss)
{
	keep_diary();
	given_kept("fakewant:?keep=1h");
	fake_forget(fake);
	lose_last();
	is_worth_nothing();
}

/* The release asks the store to watch, and then to release. */
CASE(keep_end, by_a_release_that_outlasts_the_lease_is_no_loss)
{
	keep_diary();
	given_hold("fakewant:?ttl=300ms&keep=100ms&close=30s&connect=30s");
	FAKE_SCRIPT(fake, FAKE_WATCH, .delay_ms = 500);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).lost, 0);
	cr_assert_eq(stats(client).released, 1);
	nothing_is_left();
	cr_assert_eq(diary.losses, 0);
}

CASE(keep_end, comes_with_another_server)
{
	keep_diary();
	given_kept("fakewant:?keep=1h");
	fake_forget(fake);
	fake_move(fake);
	is_worth_nothing();
}

/* An acquire does not take a kept claim that the renewal did not find. */
CASE(keep_end, comes_with_a_renewal_that_finds_nothing)
{
	keep_diary();
	given_kept("fakewant:?check=300ms&keep=1h");
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1);
	hold = take(lock);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).kept, 1);
	fake_forget(fake);
	fake_open_gate(fake);
	EVENTUALLY(stats(client).kept == 0);
	hold = take(lock);
	cr_assert_eq(asked(), 2);
	OK(dlock_release(hold));
}

/* A request with terms does not take the kept claim. The request pauses between
 * attempts that fail, and finds the kept claim released. */
CASE(keep_end, comes_with_an_attempt_that_fails)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.lease_ms = 10000;
	o.timeout_ms = 200;
	given_kept("fakewant:?keep=1h&ask=100ms&close=300ms");
	fake_always(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	fake_always(fake, FAKE_RELEASE, FAKE_REFUSE);
	cr_assert_eq(dlock_acquire_opts(lock, &o, &hold), DLOCK_EUNREACHABLE);
	cr_assert_eq(stats(client).kept, 0);
	cr_assert_lt(asked(), 100);
	fake_clear(fake);
	o.timeout_ms = 10000;
	OK(dlock_acquire_opts(lock, &o, &hold));
	OK(dlock_release(hold));
	nothing_is_left();
}
