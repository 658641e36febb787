/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of mem: when its clock leaps past the end of a lease. */
#include "core/fixture.h"

TestSuite(mem, .init = fixture, .timeout = 60);

/* A waiter that asked while the holder had no lease has no time to poll at.  It
 * relies on a wake, also when another client finds that the holder's lease has
 * ended. */
CASE(mem, wakes_the_next_when_another_finds_a_lease_to_be_over)
{
	struct taker leased = { .linger = 1 }, next = { 0 }, last = { 0 };
	dlock_client *b;

	clock_leaps(0);
	given_hold("mem:");
	b = closed_at_end(open_store("mem:?ttl=60s", NULL));
	taker_start(&leased, mutex(b, "a"), -1);
	EVENTUALLY(stats(b).waiters == 1);
	taker_start(&next, lock, -1);
	EVENTUALLY(stats(client).waiters == 1);
	OK(dlock_release(hold));
	EVENTUALLY(atomic_load(&leased.done));
	OK(leased.rc);
	/* Its renewer sleeps by the real clock. */
	clock_leaps(100000);
	taker_start(&last, lock, -1);
	EVENTUALLY(atomic_load(&next.done) && atomic_load(&last.done));
	OK(taker_join(&next));
	OK(taker_join(&last));
	atomic_store(&leased.linger, 0);
	taker_join(&leased);
	cr_assert_eq(leased.release_rc, DLOCK_ELOST);
}
