/* SPDX-License-Identifier: Apache-2.0 */
/* Clean-ups of lost requests and answers: delays and costs. */
#include "core/fixture.h"

#include <stdio.h>

TestSuite(cleanup, .init = timed_fixture, .timeout = 60);

/* The store refuses the next `n` calls of a verb. */
static void refuse(enum fake_verb verb, int n)
{
	FAKE_SCRIPT(fake, verb, .fault = FAKE_REFUSE, .times = n);
}

static void lose_answer(enum fake_verb verb)
{
	fake_once(fake, verb, FAKE_CUT);
}

/* A lease of 600 ms is renewed after 200 ms, and after 300 ms at the latest. */
CASE(cleanup, leaves_time_for_a_short_lease)
{
	dlock_acquire_options wanted = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_lock *other;
	dlock_hold *h;
	struct fake_call call;

	given_hold("fake:?ttl=30s");
	other = mutex(client, "b");
	wanted.lease_ms = 600;
	OK(dlock_acquire_opts(other, &wanted, &h));
	refuse(FAKE_RELEASE, 1);
	cr_assert_eq(dlock_release(hold), DLOCK_EUNREACHABLE);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	call = fake_last(fake, FAKE_RELEASE);
	cr_assert_leq(call.deadline - call.begin, 100 * DLK_MS);
	(void)dlock_release(h); /* lost, if this thread slept */
}

/* Delays the arrival of the next `verb`. */
static void delay(enum fake_verb verb, int64_t ms)
{
	FAKE_SCRIPT(fake, verb, .delay_ms = ms);
}

/* No thread sleeps through the delays: the clock leaps over the delay of the
 * call with the number. */
struct leap {
	enum fake_verb verb;
	size_t number;
	int64_t ahead_ms;
};

static void *leap(void *arg)
{
	for (const struct leap *l = arg; l->number > 0; l++) {
		while (fake_count(fake, l->verb) < l->number)
			nap_ms(1);
		clock_leaps(l->ahead_ms);
	}
	return NULL;
}

static pthread_t leaper(struct leap *leaps)
{
	pthread_t thread;

	thread = thread_begin(leap, leaps);
	return thread;
}

/* Leaves a claim in the way of the next try. The renewer is at another clean-up
 * until the gate opens. A try has 50 s. */
static void leave_a_claim_in_the_way(void)
{
	dlock_lock *other;

	clock_leaps(0);
	given_mutex("fake:?ttl=600s&close=60s&connect=60s&ask=50s");
	OK(dlock_mutex_new(&other, client, "other"));
	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1, .overrun = 1);
	lose_answer(FAKE_ATTEMPT);
	cr_assert_eq(dlock_acquire(other, 0, &hold), DLOCK_EUNREACHABLE);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	lose_answer(FAKE_ATTEMPT);
	cr_assert_eq(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE);
	dlock_lock_free(other);
}

CASE(cleanup, is_not_begun_without_time_for_an_answer)
{
	struct leap leaps[] = { { FAKE_ATTEMPT, 3, 30000 }, { .number = 0 } };
	pthread_t thread;

	leave_a_claim_in_the_way();
	delay(FAKE_ATTEMPT, 30000);
	thread = leaper(leaps);
	REFUSED(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE,
		"could not be released: no time was left");
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	fake_open_gate(fake);
}

CASE(cleanup, is_followed_by_no_attempt_without_time_for_an_answer)
{
	struct leap leaps[] = { { FAKE_ATTEMPT, 3, 15000 },
				{ FAKE_RELEASE, 2, 40000 },
				{ .number = 0 } };
	pthread_t thread;

	leave_a_claim_in_the_way();
	delay(FAKE_ATTEMPT, 15000);
	delay(FAKE_RELEASE, 25000);
	thread = leaper(leaps);
	REFUSED(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE,
		"no time was left to ask again");
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 3);
	OK(dlock_acquire(lock, 0, &hold));
	OK(dlock_release(hold));
	fake_open_gate(fake);
}

/* The renewer is at another clean-up meanwhile. */
CASE(cleanup, of_many_claims_share_round_trips)
{
	enum { N = 17 };
	char name[8];

	given_mutex("fakebatch:?ttl=600s&close=60s&connect=60s&ask=50s");
	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1);
	for (int i = 0; i <= N; i++) {
		dlock_lock *other;

		snprintf(name, sizeof(name), "n%d", i);
		OK(dlock_mutex_new(&other, client, name));
		lose_answer(FAKE_ATTEMPT);
		cr_assert_eq(dlock_acquire(other, 0, &hold),
			     DLOCK_EUNREACHABLE);
		dlock_lock_free(other);
		EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	}
	cr_assert_eq(fake_count(fake, FAKE_LATER), 0);
	fake_open_gate(fake);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) > N);
	cr_assert_eq(fake_count(fake, FAKE_LATER), N - 1);
	EVENTUALLY(fake_held(fake) == 0);
}

/* The client sends the attempt twice. The first request arrives after the
 * answer to the second, and after the release. */
CASE(cleanup, that_comes_after_the_release_is_released)
{
	enum { LATE_MS = 200 };
	dlk_time began;

	given_mutex("fake:?ttl=900ms");
	began = dlk_now();
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .resent = 1, .late_ms = LATE_MS);
	OK(dlock_acquire(lock, 0, &hold));
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).pending_cleanups, 1);
	nap_ms(LATE_MS + 50); /* the first request has arrived by then */
	EVENTUALLY(fake_held(fake) == 0);
	cr_assert_leq(dlk_now(), late(began + 700 * DLK_MS));
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_geq(dlk_now(), began + 800 * DLK_MS);
}

/* ---- Costs --------------------------------------------------------------- */

enum { MANY = 300 };

static void try_many(void)
{
	char name[16];

	for (int i = 0; i < MANY; i++) {
		dlock_hold *h = NULL;
		dlock_lock *l;

		snprintf(name, sizeof(name), "%d", i);
		l = mutex(client, name);
		cr_assert_eq(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
		end_now(l);
	}
}

CASE(cleanup, is_none_where_nothing_was_sent)
{
	given_client("fake:?ttl=30s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_REFUSE, .unsent = 1,
		    .times = FAKE_ALWAYS);
	refuse(FAKE_RELEASE, FAKE_ALWAYS);
	try_many();
	cr_assert_eq(stats(client).pending_cleanups, 0);
	fake_clear(fake);
}

/* While the store is away, a single clean-up is tried for all. Then all are
 * asked at once, and a clean-up whose claim may still arrive is asked a few
 * times at most. */
CASE(cleanup, costs_little_however_many_there_are)
{
	size_t before;

	given_client("fake:?ttl=2s");
	refuse(FAKE_ATTEMPT, FAKE_ALWAYS);
	refuse(FAKE_RELEASE, FAKE_ALWAYS);
	try_many();
	cr_assert_eq(stats(client).pending_cleanups, MANY);
	before = fake_count(fake, FAKE_RELEASE);
	/* No lease has run out yet, after which each clean-up is tried once
	 * more. */
	nap_ms(dlock_ttl_ms(client) / 6);
	cr_assert_leq(fake_count(fake, FAKE_RELEASE) - before, 10);
	fake_clear(fake);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_geq(fake_count(fake, FAKE_RELEASE), MANY);
	cr_assert_leq(fake_count(fake, FAKE_RELEASE), 8 * MANY);
}

/* The store carried out a renewal, and the client took the renewal for failed.
 *  */
static void expect_a_lease_after(enum dlk_renewal verdict)
{
	dlk_time answered;

	given_mutex("fake:?ttl=600ms&check=50ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1, .overrun = 1,
		    .fault = FAKE_SAY, .verdict = verdict);
	hold = take(lock);
	EVENTUALLY(stats(client).lost == 1);
	refuse(FAKE_RELEASE, FAKE_ALWAYS);
	answered = dlk_now();
	fake_open_gate(fake);
	EVENTUALLY(fake_last(fake, FAKE_RENEW).end != 0);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_geq(dlk_now(), answered + 600 * DLK_MS);
	fake_clear(fake);
}

CASE(cleanup, lasts_for_a_lease_after_a_renewal_that_came_too_late)
{
	expect_a_lease_after(DLK_RENEWED);
}

CASE(cleanup, lasts_for_a_lease_after_a_renewal_without_an_answer)
{
	expect_a_lease_after(DLK_UNKNOWN);
}
