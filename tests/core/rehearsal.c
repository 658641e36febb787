/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that mem: rehearses for the tests of a program. */
#include "core/fixture.h"

#include "support/outcome.h"

TestSuite(rehearsal, .init = fixture, .timeout = 60);

CASE(rehearsal, of_one_request_that_fails)
{
	dlock_hold *none;

	given_mutex("mem:?fail=1");
	REFUSED(dlock_acquire(lock, 0, &none), DLOCK_EUNREACHABLE,
		"no answer to request 1 (rehearsed)");
	OK(dlock_release(take(lock)));
}

CASE(rehearsal, of_some_requests_that_fail)
{
	given_mutex("mem:?fail=2-4");
	OK(dlock_acquire(lock, 0, &hold));
	REFUSED(dlock_release(hold), DLOCK_EUNREACHABLE, "request 2");
	hold = take_within(lock, 10000);
	cr_assert_gt(stats(client).attempts, 1);
	OK(dlock_release(hold));
}

CASE(rehearsal, of_a_store_that_goes_away)
{
	keep_diary();
	given_hold("mem:?ttl=900ms&fail=2-");
	EVENTUALLY(diary.risks == 1);
	OK(dlock_check(hold));
	EVENTUALLY(diary.losses == 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "the lease ran out");
}

CASE(rehearsal, of_an_outage_that_ends)
{
	keep_diary();
	given_hold("mem:?ttl=2s&fail=2-3");
	EVENTUALLY(diary.risks == 1);
	EVENTUALLY(diary.safes == 1);
	cr_assert_eq(diary.losses, 0);
	OK(dlock_release(hold));
}

/* A waiter is granted a lease, and never heard of again. */
CASE(rehearsal, of_a_waiter_behind_a_process_that_stands_still)
{
	struct taker t = { 0 };
	struct outcome o = { 0 };
	dlock_client *still;

	given_hold("mem:");
	options.no_threads = 1;
	still = closed_at_end(open_store("mem:?ttl=1s", &options));
	ask_async(&o, unbound(still, "a"), FOREVER);
	EVENTUALLY(dlock_process(still, 0) >= 0 && stats(still).waiters == 1);
	OK(dlock_release(hold));
	taker_waits(&t, FOREVER);
	EVENTUALLY(dlock_process(still, 0) >= 0 && o.calls == 1);
	OK(taker_join(&t));
}

/* Returns a bit for each of 24 tries: set if the try failed. Clean-ups are
 * requests, too. */
static uint64_t refused_by(const char *uri)
{
	dlock_client *c = closed_at_end(open_store(uri, NULL));
	dlock_lock *l = mutex(c, "dice");
	uint64_t seen = 0;

	for (int i = 0; i < 24; i++) {
		dlock_hold *h;
		int rc = dlock_acquire(l, 0, &h);

		seen = seen << 1 | (rc == DLOCK_EUNREACHABLE);
		cr_assert(rc == DLOCK_OK || rc == DLOCK_EUNREACHABLE);
		if (rc == DLOCK_OK)
			(void)dlock_release(h);
		EVENTUALLY(stats(c).pending_cleanups == 0);
	}
	return seen;
}

CASE(rehearsal, of_chance_is_as_its_seed)
{
	uint64_t one = refused_by("mem:?refuse=50");

	cr_assert_eq(refused_by("mem:?refuse=50"), one);
	cr_assert_neq(one, 0);
	cr_assert_neq(one + 1, UINT64_C(1) << 24);
	cr_assert_neq(refused_by("mem:?refuse=50&seed=2"), one);
}
