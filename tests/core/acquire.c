/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of an acquire: attempts, pauses and return codes. */
#include "core/fixture.h"

#define SLACK_MS 250 /* for a busy machine */

TestSuite(acquire, .init = timed_fixture, .timeout = 60);

/* Checks that an acquire returns `code` between least_ms and most_ms from now.
 *  */
static void answers(dlock_lock *l, int64_t timeout_ms, int code,
		    int64_t least_ms, int64_t most_ms)
{
	dlock_hold *h = (dlock_hold *)&most_ms;
	dlk_time began = dlk_now();
	int rc = dlock_acquire(l, timeout_ms, &h);
	int64_t took_ms = (dlk_now() - began) / DLK_MS;
	int64_t stall_ms = stalled_ms() + grace_ms();

	cr_assert_eq(rc, code, "%s: %s", dlock_errname(rc), dlock_errmsg());
	cr_assert_geq(took_ms, least_ms, "%lld ms", (long long)took_ms);
	cr_assert_leq(took_ms, most_ms + stall_ms, "%lld ms, %lld of a stall",
		      (long long)took_ms, (long long)stall_ms);
	cr_assert_eq((void *)h, (void *)&most_ms, "out was touched");
}

CASE(acquire, tells_busy_from_unreachable)
{
	given_busy_mutex("fake:?ttl=5s");
	answers(lock, 0, DLOCK_EBUSY, 0, SLACK_MS);
	answers(lock, 100, DLOCK_EBUSY, 100, 100 + SLACK_MS);
	cr_assert_eq(fake_waiting(fake), 0);
	fake_always(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	answers(lock, 0, DLOCK_EUNREACHABLE, 0, SLACK_MS);
	answers(lock, 100, DLOCK_EUNREACHABLE, 100, 100 + SLACK_MS);
	fake_clear(fake);
	cr_assert_eq(stats(client).busy, 2);
	cr_assert_eq(stats(client).asked, 4);
	cr_assert_eq(stats(client).waiters, 0);
}

/* The store answers BUSY, and then does not answer. */
CASE(acquire, that_was_told_busy_says_so)
{
	given_busy_mutex("fake:?ttl=5s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, 0);
	fake_always(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	answers(lock, 60, DLOCK_EBUSY, 60, 60 + SLACK_MS);
	cr_assert(strstr(dlock_errmsg(), "when the store last answered"));
	fake_clear(fake);
	fake_once(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	answers(lock, 150, DLOCK_EBUSY, 150, 150 + SLACK_MS);
}

CASE(acquire, asks_once_more_at_the_deadline)
{
	dlk_time begun;

	given_mutex("fake:");
	fake_wake_nobody(fake);
	fake_once(fake, FAKE_ATTEMPT, FAKE_BUSY);
	/* No wake comes, and the lock is free at the deadline. */
	begun = dlk_now();
	OK(dlock_acquire(lock, 80, &hold));
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 2);
	cr_assert_geq(fake_last(fake, FAKE_ATTEMPT).begin, begun + 70 * DLK_MS);
	OK(dlock_release(hold));
}

CASE(acquire, ends_at_once_with_what_cannot_be_helped)
{
	static const int codes[] = { DLOCK_EDENIED, DLOCK_EINVAL,
				     DLOCK_ENOTSUP, DLOCK_EEXHAUSTED,
				     DLOCK_EPROTO,  DLOCK_ESYSTEM,
				     DLOCK_ENOMEM };

	given_mutex("fake:?ttl=100ms");
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_CODE,
			    .code = codes[i]);
		answers(lock, -1, codes[i], 0, SLACK_MS);
		cr_assert_str_eq(dlock_errmsg(), "fake: scripted");
	}
	fake_once(fake, FAKE_ATTEMPT, FAKE_CODE);
	answers(lock, -1, DLOCK_EPROTO, 0, SLACK_MS);
	cr_assert_str_eq(dlock_errmsg(), "fake: failed without a reason");
	EVENTUALLY(stats(client).pending_cleanups == 0);
}

/* A store may name a time in the past for the next attempt. */
CASE(acquire, does_not_spin_on_a_time_that_has_passed)
{
	given_busy_mutex("fake:");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_BUSY, .look_ms = -1000,
		    .times = FAKE_ALWAYS);
	cr_assert_eq(dlock_acquire(lock, 50, &hold), DLOCK_EBUSY);
	cr_assert_leq(fake_count(fake, FAKE_ATTEMPT), 120);
	fake_clear(fake);
}

CASE(acquire, does_not_ask_more_often_than_the_backoff_lets_it)
{
	int64_t least = INT64_MAX, most = 0;
	size_t n;

	given_busy_mutex("fake:?wake=off&retry_min=20ms&retry_max=60ms");
	cr_assert_eq(dlock_acquire(lock, 700, &hold), DLOCK_EBUSY);
	n = fake_count(fake, FAKE_ATTEMPT);
	cr_assert_geq(n, 5);
	cr_assert_leq(n, 36);
	/* The last attempt comes at the deadline. */
	for (size_t i = 1; i + 1 < n; i++) {
		int64_t gap = fake_nth(fake, FAKE_ATTEMPT, i).begin -
			      fake_nth(fake, FAKE_ATTEMPT, i - 1).end;

		least = gap < least ? gap : least;
		most = gap > most ? gap : most;
	}
	cr_assert_geq(least, 19 * DLK_MS);
	cr_assert_gt(most, least + 5 * DLK_MS, "no jitter");
	/* The first attempt is no poll, and the last is a poll only when late.
	 *  */
	cr_assert_geq(stats(client).polls, n - 2);
	cr_assert_leq(stats(client).polls, n - 1);
}

/* A time from the store goes before the range of the backoff. */
CASE(acquire, looks_as_soon_as_a_store_that_cannot_wake_wants_it_to)
{
	struct taker t = { 0 };

	given_busy_mutex("fake:?wake=off&retry_min=60s&retry_max=60s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .look_ms = 1, .times = 5);
	taker_start(&t, lock, -1);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 6);
	cr_assert_eq(stats(client).polls, 5);
	fake_vacate(fake, DLK_LOCK, "a");
	ALL_ALONG(50, fake_count(fake, FAKE_ATTEMPT) == 6);
	dlock_cancel(lock);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
}

/* The cancelled wait leaves no claim. */
CASE(acquire, that_is_cancelled_while_the_store_is_silent_ends_soon)
{
	struct taker t = { 0 };
	dlk_time began;

	given_mutex("fake:?connect=5s&close=5s");
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_REFUSE, .times = 2);
	taker_start(&t, lock, -1);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 1);
	began = dlk_now();
	dlock_cancel(lock);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_lt(dlk_now(), late(began + (40 + SLACK_MS) * DLK_MS));
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_eq(fake_waiting(fake), 0);
}

/* A try waits for the answer alone. */
CASE(acquire, that_is_cancelled_at_its_last_request_says_so)
{
	struct taker t = { 0 };

	given_mutex("fake:?ask=300ms&connect=5s&close=5s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_SILENT);
	taker_start(&t, lock, 0);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 1);
	dlock_cancel(lock);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
}

/* The margin takes all or most of each lease. */
CASE(acquire, does_not_spin_where_no_lease_is_worth_having)
{
	given_mutex("fake:?ttl=10ms&agreed=2ms");
	cr_assert_eq(dlock_acquire(lock, 50, &hold), DLOCK_EUNREACHABLE);
	close_client();
	given_mutex("fake:?ttl=100ms&margin=60ms");
	cr_assert_eq(dlock_acquire(lock, 200, &hold), DLOCK_EUNREACHABLE);
	cr_assert_leq(stats(client).attempts, 50, "%d attempts in 200 ms",
		      (int)stats(client).attempts);
}

/* An attempt at the deadline or after a cancel is no poll. */
CASE(acquire, that_is_over_is_no_poll)
{
	struct taker t = { 0 };

	given_busy_mutex("fake:");
	cr_assert_eq(dlock_acquire(lock, 20, &hold), DLOCK_EBUSY);
	cr_assert_eq(stats(client).attempts, 2);
	cr_assert_eq(stats(client).polls, 0);
	taker_waits(&t, -1);
	dlock_cancel(lock);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_eq(stats(client).polls, 0);
}
