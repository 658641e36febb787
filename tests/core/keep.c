/* SPDX-License-Identifier: Apache-2.0 */
/* Claims that a client keeps while no thread holds them. */
#include "core/passing.h"

TestSuite(keep, .init = timed_fixture, .timeout = 60);

static void given_kept(const char *uri)
{
	given_rwlock(uri);
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).kept, 1);
	cr_assert_eq(stats(client).pending_cleanups, 0);
	cr_assert_eq(stats(client).holds, 0);
	cr_assert_eq(fake_held(fake), 1);
}

static size_t released(void)
{
	return fake_count(fake, FAKE_RELEASE);
}

CASE(keep, lasts_as_long_as_the_uri_says)
{
	int64_t began;

	given_kept("fakewant:?keep=200ms");
	began = now_ms();
	EVENTUALLY(released() == 1);
	cr_assert_geq(now_ms() - began + stalled_ms(), 150);
	nothing_is_left();
	hold = take(lock);
	cr_assert_eq(asked(), 2);
	OK(dlock_release(hold));
}

/* A claim is kept while a quarter of the lease is left. */
CASE(keep, ends_before_the_lease_does)
{
	const struct fake_step stands = { .fault = FAKE_SAY,
					  .verdict = DLK_STANDS,
					  .times = FAKE_ALWAYS };
	int64_t left_ms;

	given_mutex("fakewant:?ttl=1200ms&keep=600ms");
	fake_script(fake, FAKE_RENEW, stands);
	hold = take(lock);
	EVENTUALLY((left_ms = dlock_remaining_ms(hold)) < 480);
	OK(dlock_release(hold));
	EVENTUALLY(stats(client).kept == 0);
	EVENTUALLY(released() == 1);
	hold = take(lock);
	EVENTUALLY(dlock_remaining_ms(hold) < 288);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).kept, 0);
	cr_assert_eq(asked(), 2);
	cr_assert_eq(stats(client).retaken, 0);
	fake_clear(fake);
	nothing_is_left();
}

CASE(keep, has_a_range_that_is_extended)
{
	uint64_t token = 0;

	given_mutex("fakewant:?keep=1h");
	FAKE_SCRIPT(fake, FAKE_WATCH, .tokens = 2, .times = 3);
	for (int i = 0; i < 6; i++) {
		hold = take(lock);
		cr_assert_gt(dlock_token(hold), token);
		token = dlock_token(hold);
		OK(dlock_release(hold));
	}
	cr_assert_eq(asked(), 1);
	cr_assert_eq(stats(client).retaken, 5);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 3);
}

CASE(keep, is_not_for_permits_nor_for_a_store_that_does_not_watch)
{
	given_client("fakewant:?keep=1h");
	OK(dlock_release(take(semaphore(client, "a", 1))));
	cr_assert_eq(stats(client).kept, 0);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 0);
	lock = mutex(client, "a");
	fake_once(fake, FAKE_WATCH, FAKE_REFUSE);
	OK(dlock_release(take(lock)));
	cr_assert_eq(stats(client).kept, 0);
	cr_assert_eq(released(), 2);
	nothing_is_left();
}
