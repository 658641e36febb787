/* SPDX-License-Identifier: Apache-2.0 */
/* The times of renewals: more cases of lease.c's suite. */
#include "core/fixture.h"

CASE(lease, that_was_short_is_made_whole_at_a_third_of_it)
{
	given_mutex("fake:?ttl=6s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .lease_ms = 1500);
	hold = take(lock);
	EVENTUALLY(stats(client).renewed == 1);
	cr_assert_lt(fake_last(fake, FAKE_RENEW).begin,
		     late(fake_last(fake, FAKE_ATTEMPT).begin + 1000 * DLK_MS));
	/* A third of the lease after the core's stamp, which comes before
	 * `begin`. */
	cr_assert_geq(late(fake_last(fake, FAKE_RENEW).begin),
		      fake_last(fake, FAKE_ATTEMPT).begin + 400 * DLK_MS);
	cr_assert_gt(dlock_remaining_ms(hold) + stalled_ms(), 4000);
	OK(dlock_release(hold));
}

CASE(lease, that_does_not_expire_is_looked_at_if_the_store_wants_it)
{
	keep_diary();
	given_mutex("fake:?check=20ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_REFUSE, .times = 3);
	hold = take(lock);
	cr_assert_eq(dlock_remaining_ms(hold), -1);
	EVENTUALLY(stats(client).renewed >= 2);
	cr_assert_geq(stats(client).renew_failed, 3);
	OK(dlock_check(hold));
	cr_assert_eq(diary.risks, 0, "nothing runs out here");
	fake_forget(fake);
	EVENTUALLY(diary.losses == 1);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

CASE(lease, may_be_cut_short_by_a_renewal)
{
	given_mutex("fake:?ttl=30s&check=50ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .lease_ms = 600);
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	cr_assert_gt(dlock_remaining_ms(hold), 20000);
	EVENTUALLY(stats(client).renewed == 1);
	cr_assert_leq(dlock_remaining_ms(hold), 600);
	EVENTUALLY(stats(client).lost == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "lease ran out");
	fake_clear(fake);
}

/* The lease began before the machine was started. */
CASE(lease, that_began_long_ago_is_over)
{
	given_mutex("fake:?ttl=30s&check=50ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .since_ms = INT64_C(315360000000));
	hold = take(lock);
	EVENTUALLY(stats(client).lost == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "lease ran out");
}

/* A store without leases extends none. */
CASE(lease, that_does_not_expire_is_not_made_to_by_a_renewal)
{
	given_mutex("fake:?check=20ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_SAY, .verdict = DLK_RENEWED,
		    .times = FAKE_ALWAYS);
	hold = take(lock);
	EVENTUALLY(stats(client).renewed >= 2);
	cr_assert_eq(dlock_remaining_ms(hold), -1);
	OK(dlock_release(hold));
}

CASE(lease, is_renewed_in_time_whatever_the_store_wants)
{
	given_hold("fake:?ttl=900ms&check=10s&max_hold=1h");
	EVENTUALLY(stats(client).renewed >= 3);
	OK(dlock_check(hold));
	/* The lease ends the hold, not max_hold. */
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	EVENTUALLY(stats(client).lost == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "lease ran out");
	fake_clear(fake);
}

CASE(lease, without_expiry_ends_at_max_hold_too)
{
	given_hold("fake:?max_hold=100ms");
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	EVENTUALLY(stats(client).lost == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "max_hold");
}

/* A renewal would be due after 20 s, and no wake will come. */
CASE(lease, of_every_hold_is_looked_at_when_the_server_is_another)
{
	struct taker t = { 0 };
	dlock_client *rival;
	dlock_hold *kept;

	given_hold("fake:?ttl=60s");
	kept = take(mutex(client, "b"));
	rival = closed_at_end(open_store("fake:?ttl=60s", NULL));
	fake_once(fake, FAKE_ATTEMPT, FAKE_BUSY);
	taker_start(&t, mutex(rival, "a"), 30000);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 3);
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_SAY, .verdict = DLK_GONE);
	EVENTUALLY(stats(rival).waiters == 1);
	fake_move(fake);
	EVENTUALLY(dlock_check(hold) == DLOCK_ELOST);
	EVENTUALLY(dlock_check(kept) == DLOCK_ELOST);
	cr_assert_eq(fake_last(fake, FAKE_RENEW).n, 2);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(dlock_release(kept), DLOCK_ELOST);
	cr_assert_eq(taker_join(&t), DLOCK_OK);
}

static void *extend_in_a_downgrade(void *h)
{
	EVENTUALLY(fake_count(fake, FAKE_DOWNGRADE) == 1);
	OK(dlock_extend(h, 30000));
	fake_open_gate(fake);
	return NULL;
}

/* The downgrade has the ticket meanwhile. */
CASE(lease, of_a_hold_extended_during_a_downgrade_is_renewed)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *reads;
	pthread_t thread;

	given_rwlock("fake:?ttl=6s");
	o.no_renew = 1;
	OK(dlock_acquire_opts(lock, &o, &hold));
	o.shared = 1;
	OK(dlock_acquire_opts(lock, &o, &reads));
	FAKE_SCRIPT(fake, FAKE_DOWNGRADE, .gate = 1);
	cr_assert_eq(
		pthread_create(&thread, NULL, extend_in_a_downgrade, reads), 0);
	OK(dlock_release(hold));
	pthread_join(thread, NULL);
	EVENTUALLY(stats(client).renewed >= 1);
	OK(dlock_release(reads));
}
