/* SPDX-License-Identifier: Apache-2.0 */
/* The durations of waits and holds, and the lag of renewals. */
#include "core/fixture.h"

#include "core/client.h"

TestSuite(times, .init = fixture, .timeout = 60);

static struct dlock_stats seen;

/* Checks that the single duration is in the bucket for the length. */
static uint64_t only_one(const struct dlock_times *t)
{
	uint64_t most_us = 4;
	int i = 0;

	cr_assert_eq(t->count, 1);
	for (; i < DLOCK_TIMES_BUCKETS - 1 && t->sum_us >= most_us; i++)
		most_us *= 4;
	cr_assert_eq(t->bucket[i], 1, "%llu us", (unsigned long long)t->sum_us);
	return t->sum_us;
}

CASE(times, are_sorted_by_length)
{
	static const struct {
		dlk_time us;
		int bucket;
	} cases[] = {
		{ -1, 0 },
		{ 0, 0 },
		{ 3, 0 },
		{ 4, 1 },
		{ 15, 1 },
		{ 16, 2 },
		{ 1000, 4 },
		{ 999999, 9 },
		{ (INT64_C(1) << 30) - 1, 14 },
		{ INT64_C(1) << 30, 15 },
		{ INT64_MAX / 1000, 15 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlock_times t = { 0 };

		dlki_times_add(&t, cases[i].us * 1000);
		cr_assert_eq(t.bucket[cases[i].bucket], 1, "%lld us",
			     (long long)cases[i].us);
		cr_assert_eq(only_one(&t),
			     (uint64_t)(cases[i].us > 0 ? cases[i].us : 0));
	}
}

CASE(times, of_a_wait_and_of_a_hold)
{
	struct taker t = { .keep = 1 };
	int64_t began;

	given_busy_mutex("fake:");
	began = now_ms();
	taker_waits(&t, -1);
	nap_ms(20);
	fake_vacate(fake, DLK_LOCK, "a");
	EVENTUALLY(stats(client).granted == 1);
	seen = stats(client);
	cr_assert_geq(only_one(&seen.wait), 20000);
	cr_assert_leq(only_one(&seen.wait),
		      (uint64_t)(now_ms() - began + 1) * 1000);
	cr_assert_eq(seen.hold.count, 0);
	nap_ms(20);
	close_client();
	OK(taker_join(&t));
	drop_hold(t.hold);
}

CASE(times, of_a_hold_end_with_its_last_release)
{
	given_hold("fake:?ttl=30s");
	OK(dlock_acquire(lock, 0, &hold));
	nap_ms(20);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).hold.count, 0);
	OK(dlock_release(hold));
	seen = stats(client);
	cr_assert_geq(only_one(&seen.hold), 20000);
	cr_assert_eq(seen.wait.count, 1);
	cr_assert_eq(seen.renewal_lag.count, 0);
}

CASE(times, of_renewals_are_their_lag)
{
	given_hold("fake:?ttl=300ms");
	EVENTUALLY(stats(client).renewed >= 1);
	seen = stats(client);
	cr_assert_geq(seen.renewal_lag.count, 1);
	OK(dlock_release(hold));
}
