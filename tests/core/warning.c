/* SPDX-License-Identifier: Apache-2.0 */
/* The warning that a hold has of the end. */
#include "core/fixture.h"

TestSuite(warning, .init = timed_fixture, .timeout = 60);

/* Renewals come every second, when a lease of 3 s less 1.3 s has 0.7 s left. */
CASE(warning, is_less_than_what_is_left_when_a_renewal_is_due)
{
	given_hold("fake:?ttl=3s&margin=1300ms");
	while (stats(client).renewed < 2) {
		int64_t warning_ms = dlock_warning_ms(hold);
		int64_t left_ms = dlock_remaining_ms(hold);

		cr_assert_leq(warning_ms, 400);
		cr_assert_gt(warning_ms, 100);
		cr_assert_gt(left_ms + stalled_ms(), warning_ms);
		nap_ms(1);
	}
	OK(dlock_release(hold));
}

/* A renewal may take as long as a close. */
CASE(warning, leaves_a_renewal_its_time)
{
	int64_t left_ms = 30000 - 302 - 10000;

	given_hold("fake:?ttl=30s&close=3s");
	cr_assert_leq(dlock_warning_ms(hold), left_ms - 3000);
	cr_assert_gt(dlock_warning_ms(hold), left_ms - 3000 - 100);
	OK(dlock_release(hold));
}

CASE(warning, of_a_short_lease_is_short_and_grows_with_it)
{
	given_mutex("fake:?ttl=6s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .lease_ms = 900);
	hold = take(lock);
	cr_assert_lt(dlock_warning_ms(hold), 600);
	EVENTUALLY(stats(client).renewed == 1);
	cr_assert_gt(dlock_warning_ms(hold), 1500);
	OK(dlock_release(hold));
}

CASE(warning, is_all_that_is_left_once_renewals_fail)
{
	keep_diary();
	given_mutex("fake:?ttl=1500ms");
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	EVENTUALLY(diary.risks == 1);
	for (int64_t left_ms; (left_ms = dlock_remaining_ms(hold)) > 500;) {
		cr_assert_leq(dlock_warning_ms(hold), left_ms);
		cr_assert_gt(dlock_warning_ms(hold) + stalled_ms(),
			     left_ms - 50);
		nap_ms(20);
	}
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	cr_assert_eq(dlock_warning_ms(hold), 0);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

CASE(warning, is_all_that_is_left_where_max_hold_ends_it)
{
	given_hold("fake:?ttl=8s&max_hold=3s");
	cr_assert_leq(dlock_warning_ms(hold), 3000);
	cr_assert_gt(dlock_warning_ms(hold) + stalled_ms(), 2500);
	OK(dlock_release(hold));
}

/* No renewal moves the end of the hold: of the whole lease, or of a shorter. */
CASE(warning, is_all_that_is_left_of_an_only_lease)
{
	static const int64_t leases_ms[] = { 0, 3000 };
	dlock_acquire_options only = DLOCK_ACQUIRE_OPTIONS_INIT;

	given_mutex("fake:?ttl=8s");
	only.no_renew = 1;
	for (int i = 0; i < 2; i++) {
		int64_t warning_ms, left_ms;

		only.lease_ms = leases_ms[i];
		OK(dlock_acquire_opts(lock, &only, &hold));
		warning_ms = dlock_warning_ms(hold);
		left_ms = dlock_remaining_ms(hold);
		cr_assert_geq(warning_ms, left_ms);
		cr_assert_leq(warning_ms, left_ms + stalled_ms() + 50,
			      "%lld ms of %lld ms", (long long)warning_ms,
			      (long long)left_ms);
		OK(dlock_release(hold));
	}
}

CASE(warning, of_what_does_not_expire_is_none)
{
	dlock_client *leased =
		closed_at_end(open_store("fake://two?ttl=3s", NULL));
	dlock_lock *members[2];

	given_hold("fake:?check=1s");
	cr_assert_eq(dlock_warning_ms(hold), -1);
	cr_assert_eq(dlock_warning_ms(NULL), 0);
	OK(dlock_release(hold));
	members[0] = lock;
	members[1] = mutex(leased, "b");
	hold = take(multi(members, 2));
	cr_assert_eq(dlock_warning_ms(dlock_member(hold, 0)), -1);
	cr_assert_gt(dlock_warning_ms(hold), 0);
	cr_assert_leq(dlock_warning_ms(hold), 2000);
	OK(dlock_release(hold));
}
