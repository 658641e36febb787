/* SPDX-License-Identifier: Apache-2.0 */
/* The renewer: many holds, and how much a hold delays the others. */
#include "core/fixture.h"

TestSuite(renewer, .init = timed_fixture, .timeout = 180);

/* Checks that each renewal began at a third of the lease, unless the machine
 * stalled until half of the lease. */
static void none_late(dlock_client *c, int64_t ttl_ms)
{
	if (stalled_ms() < ttl_ms / 2 - ttl_ms / 3)
		cr_assert_eq(stats(c).renew_late, 0);
}

/* A hold close to the end by max_hold must not leave the other holds of the
 * batch without time. */
CASE(renewer, gives_each_batch_its_time)
{
	enum { CHECK_MS = 200 };
	dlock_hold *b;
	size_t n;

	given_hold("fake:?ttl=30s&check=200ms&max_hold=1050ms");
	/* The renewals of "b" come between those of the first hold. */
	nap_ms(CHECK_MS * 5 / 2);
	b = take(mutex(client, "b"));
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	n = fake_count(fake, FAKE_RENEW);
	cr_assert_geq(n, 3);
	for (size_t i = 0; i < n; i++) {
		struct fake_call call = fake_nth(fake, FAKE_RENEW, i);

		cr_assert_geq(late(call.deadline), call.begin + 100 * DLK_MS,
			      "call %zu of %zu has %lld us", i, n,
			      (long long)(call.deadline - call.begin) / 1000);
	}
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	OK(dlock_release(b));
}

/* A server fails, and another is silent. */
CASE(renewer, tells_a_claim_no_reason_of_another_server)
{
	dlock_hold *b;

	keep_diary();
	given_mutex("fake:?ttl=6s");
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_CODE, .code = DLOCK_EPROTO,
		    .part = 1);
	fake_once(fake, FAKE_RENEW, FAKE_CODE);
	hold = take(lock);
	b = take(mutex(client, "b"));
	EVENTUALLY(diary.risks == 2);
	cr_assert_eq(fake_nth(fake, FAKE_RENEW, 1).n, 1);
	cr_assert_eq(diary.page[0].hold, hold);
	cr_assert_str_eq(diary.page[0].why, "fake: scripted");
	cr_assert_eq(diary.page[1].hold, b);
	cr_assert_str_eq(diary.page[1].why, "the store did not answer");
	EVENTUALLY(diary.safes == 2);
	OK(dlock_release(hold));
	OK(dlock_release(b));
}

/* Checks that renewals which fail are no risk and cause no haste, where
 * max_hold ends the hold before the lease would. */
static void ends_without_risk(const char *uri)
{
	size_t from = fake_count(fake, FAKE_RENEW), n;

	keep_diary();
	given_mutex(uri);
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	EVENTUALLY(diary.losses == 1);
	cr_assert_eq(diary.n, 1, "there was another event");
	REFUSED(dlock_release(hold), DLOCK_ELOST, "max_hold");
	n = fake_count(fake, FAKE_RENEW);
	cr_assert_gt(n, from + 1);
	for (size_t i = from + 1; i < n; i++) {
		dlk_time pause = fake_nth(fake, FAKE_RENEW, i).begin -
				 fake_nth(fake, FAKE_RENEW, i - 1).begin;

		/* A quarter of the interval, less the time for which a renewal
		 * may join a round. */
		cr_assert_geq(pause, 39 * DLK_MS, "renewal %zu after %lld us",
			      i, (long long)pause / 1000);
	}
	fake_clear(fake);
	close_client();
}

CASE(renewer, sees_no_risk_where_max_hold_ends_a_hold_first)
{
	ends_without_risk("fake:?check=200ms&max_hold=700ms");
	ends_without_risk("fake:?ttl=60s&check=200ms&max_hold=700ms");
}

/* max_hold leaves each hold less than half a lease. */
CASE(renewer, is_late_by_the_lease_and_not_by_max_hold)
{
	given_hold("fake:?ttl=30s&check=50ms&max_hold=400ms");
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	cr_assert_gt(stats(client).renewed, 0);
	none_late(client, 30000);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

/* Leaves a claim that is to be cleaned up. */
static void leave_a_cleanup(const char *name)
{
	dlock_lock *l = mutex(client, name);

	fake_once(fake, FAKE_ATTEMPT, FAKE_CUT);
	cr_assert_eq(dlock_acquire(l, 0, &hold), DLOCK_EUNREACHABLE);
}

/* The renewer is at a clean-up while two renewals fall due, which have not the
 * same time and so are no batch, and so does another clean-up. */
CASE(renewer, renews_what_fell_due_before_it_cleans_up)
{
	dlock_acquire_options brief = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *h[2];

	clock_leaps(0);
	given_mutex("fake:?ttl=60s&close=60s&connect=60s");
	brief.lease_ms = 30000;
	OK(dlock_acquire_opts(lock, &brief, &h[0]));
	h[1] = take(mutex(client, "b"));
	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1, .overrun = 1);
	leave_a_cleanup("c");
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	leave_a_cleanup("d");
	clock_leaps(25000);
	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1, .overrun = 1);
	fake_open_gate(fake);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 2);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), 2);
	fake_open_gate(fake);
	OK(dlock_release(h[0]));
	OK(dlock_release(h[1]));
}

/* The machine sleeps between the renewal and the answer, past the end of the
 * lease. */
static void sleeps_before(enum fake_fault fault)
{
	clock_leaps(0);
	given_mutex("fake:?ttl=3s&check=50ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1, .overrun = 1, .fault = fault,
		    .verdict = DLK_RENEWED);
	hold = take(lock);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	clock_leaps(100000);
	cr_assert_eq(dlock_check(hold), DLOCK_ELOST);
	fake_open_gate(fake);
	EVENTUALLY(fake_last(fake, FAKE_RENEW).end != 0);
	if (fault == FAKE_SAY)
		EVENTUALLY(stats(client).lost == 1);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), 1);
}

CASE(renewer, believes_no_renewal_that_was_read_after_the_end)
{
	sleeps_before(FAKE_SAY);
}

CASE(renewer, plans_nothing_for_a_hold_that_is_over_but_not_lost_yet)
{
	sleeps_before(FAKE_REFUSE);
}
