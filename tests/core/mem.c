/* SPDX-License-Identifier: Apache-2.0 */
/* The line of mem: when its clock leaps past the end of a lease. */
#include "core/support.h"

TestSuite(mem, .timeout = 60);

static atomic_llong ahead;
static dlk_time (*real_clock)(void);

static dlk_time leaping_clock(void)
{
	return real_clock() + atomic_load(&ahead);
}

/* Who asked while the holder had no lease is not to look by a time: it relies
 * on being told, also when another finds that the holder's is over. */
Test(mem, wakes_the_next_when_another_finds_a_lease_to_be_over)
{
	struct taker leased = { .linger = 1 }, next = { 0 }, last = { 0 };
	dlock_client *a, *b;
	dlock_lock *la, *lb;
	dlock_hold *h;

	real_clock = dlki_clock;
	dlki_clock = leaping_clock;
	OK(dlock_open(&a, "mem:", NULL));
	OK(dlock_open(&b, "mem:?ttl=60s", NULL));
	la = mutex(a, "line");
	lb = mutex(b, "line");
	h = take(la);
	taker_start(&leased, lb, -1);
	EVENTUALLY(stats(b).waiters == 1);
	taker_start(&next, la, -1);
	EVENTUALLY(stats(a).waiters == 1);
	OK(dlock_release(h));
	EVENTUALLY(atomic_load(&leased.done));
	OK(leased.rc);
	/* Its keeper sleeps by the real clock. */
	atomic_store(&ahead, 100000 * DLKI_MS);
	taker_start(&last, la, -1);
	EVENTUALLY(atomic_load(&next.done) && atomic_load(&last.done));
	OK(taker_join(&next));
	OK(taker_join(&last));
	atomic_store(&leased.linger, 0);
	taker_join(&leased);
	cr_assert_eq(leased.release_rc, DLOCK_ELOST);
	dlock_free(la);
	dlock_free(lb);
	dlock_close(a);
	dlock_close(b);
}
