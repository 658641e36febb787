/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-locks: all members or none, in a fixed order, under a single deadline.
 *  */
#include "core/fixture.h"

static struct fake *one, *two;
static dlock_client *a, *b;

/* x and z from the store `one`, y from `two`, and a multi-lock of the three. */
static dlock_lock *x, *y, *z, *all;

static void set_up(void)
{
	timed_fixture();
	a = closed_at_end(open_store("fake://one?ttl=5s&ask=400ms", NULL));
	b = closed_at_end(open_store("fake://two?ttl=3s", NULL));
	one = fake_store("one");
	two = fake_store("two");
	x = mutex(a, "x");
	y = mutex(b, "y");
	z = mutex(a, "z");
	all = multi((dlock_lock *[]){ z, x, y }, 3);
}

TestSuite(multi, .init = set_up, .timeout = 60);

CASE(multi, takes_its_members_in_one_order)
{
	dlock_lock *other = multi((dlock_lock *[]){ y, z, x }, 3);
	dlock_lock *same_name = multi((dlock_lock *[]){ mutex(b, "x"), x }, 2);

	OK(dlock_release(take(all)));
	OK(dlock_release(take(other)));
	for (size_t i = 0; i < 2; i++) {
		dlk_time at_x = fake_nth(one, FAKE_ATTEMPT, 2 * i).begin;
		dlk_time at_z = fake_nth(one, FAKE_ATTEMPT, 2 * i + 1).begin;
		dlk_time at_y = fake_nth(two, FAKE_ATTEMPT, i).begin;

		cr_assert_lt(at_x, at_y);
		cr_assert_lt(at_y, at_z);
	}
	OK(dlock_release(take(same_name)));
	cr_assert_lt(fake_last(one, FAKE_ATTEMPT).begin,
		     fake_last(two, FAKE_ATTEMPT).begin);
}

/* ---- Never holding and waiting ------------------------------------------- */

/* The nested locks are y, then x, like `dlock run` inside `dlock run`. */
CASE(multi, makes_way_for_nested_locks_in_the_other_order)
{
	struct taker taker = { 0 };
	dlock_hold *inner;

	hold = take(y);
	taker_start(&taker, multi((dlock_lock *[]){ x, y }, 2), -1);
	EVENTUALLY(stats(b).waiters == 1);
	OK(dlock_acquire(x, 10000, &inner));
	OK(dlock_release(inner));
	OK(dlock_release(hold));
	OK(taker_join(&taker));
}

CASE(multi, of_one_lock_by_two_spellings_is_refused_under_any_label)
{
	dlock_client *c = closed_at_end(open_store("fakeall://one", NULL));
	dlock_lock *twice = multi((dlock_lock *[]){ x, mutex(c, "x") }, 2);
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = 10000;
	o.label = "nightly";
	INVALID(dlock_acquire_opts(twice, &o, &hold),
		"lock 'x' is a member twice");
}

CASE(multi, of_two_stores_that_grant_one_token)
{
	dlock_client *c = closed_at_end(open_store("fake://two", NULL));
	dlock_lock *m[] = { x, mutex(b, "x") };
	dlock_lock *both = multi(m, 2);
	dlock_hold *none;

	hold = take(mutex(c, "x"));
	fake_repeat_token();
	cr_assert_eq(dlock_acquire(both, 100, &none), DLOCK_EBUSY, "%s",
		     dlock_errmsg());
	OK(dlock_release(hold));
	OK(dlock_release(take(both)));
}

/* A silent store does not delay the call, which returns the other store's
 * answer. The renewer releases the claim later. */
CASE(multi, that_is_given_up_does_not_wait_for_its_releases)
{
	dlk_time began = dlk_now();

	fake_occupy(two, DLK_LOCK, "y", 0);
	fake_once(one, FAKE_RELEASE, FAKE_SILENT);
	cr_assert_eq(dlock_acquire(all, 100, &hold), DLOCK_EBUSY);
	cr_assert_lt(dlk_now(), late(began + 1200 * DLK_MS));
	EVENTUALLY(stats(a).pending_cleanups == 0);
	cr_assert_eq(fake_held(one), 0);
}

CASE(multi, has_the_time_of_one_release_for_all)
{
	struct fake *three = fake_store("three");
	dlock_client *c = closed_at_end(
		open_store("fake://three?ttl=5s&close=300ms", NULL));
	dlock_lock *m[] = { mutex(c, "a"), mutex(c, "b"), mutex(c, "c") };
	dlk_time began;

	hold = take(multi(m, 3));
	FAKE_SCRIPT(three, FAKE_RELEASE, .fault = FAKE_SILENT, .times = 3);
	began = dlk_now();
	REFUSED(dlock_release(hold), DLOCK_EUNREACHABLE, "no answer");
	cr_assert_lt(dlk_now(), late(began + 550 * DLK_MS));
	EVENTUALLY(stats(c).pending_cleanups == 0);
	cr_assert_eq(fake_held(three), 0);
}

CASE(multi, tells_the_gravest_failure_of_its_release)
{
	hold = take(all);
	fake_once(one, FAKE_RELEASE, FAKE_REFUSE);
	fake_lose(two, fake_last(two, FAKE_ATTEMPT).id);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "'y'");
	hold = take(all);
	fake_once(one, FAKE_RELEASE, FAKE_REFUSE);
	REFUSED(dlock_release(hold), DLOCK_EUNREACHABLE, "no answer");
	EVENTUALLY(stats(a).pending_cleanups == 0);
	hold = take(all);
	FAKE_SCRIPT(one, FAKE_RELEASE, .fault = FAKE_REFUSE, .times = 2);
	REFUSED(dlock_release(hold), DLOCK_EUNREACHABLE, "no answer");
	EVENTUALLY(stats(a).pending_cleanups == 0);
}

CASE(multi, gives_up_at_the_deadline_when_members_are_lost_again_and_again)
{
	dlk_time began = dlk_now();
	int rc;

	FAKE_SCRIPT(one, FAKE_ATTEMPT, .delay_ms = 250, .times = FAKE_ALWAYS);
	FAKE_SCRIPT(two, FAKE_ATTEMPT, .lease_ms = 200, .times = FAKE_ALWAYS);
	fake_always(two, FAKE_RENEW, FAKE_REFUSE);
	rc = dlock_acquire(all, 800, &hold);
	/* The core takes no grant after half of the lease. */
	if (stalled_ms() < 100)
		cr_assert_eq(rc, DLOCK_ELOST, "%s", dlock_errmsg());
	cr_assert_lt(rc, 0);
	cr_assert_lt(dlk_now(), late(began + 1700 * DLK_MS));
	fake_clear(one);
	fake_clear(two);
	EVENTUALLY(stats(a).pending_cleanups + stats(b).pending_cleanups == 0);
	cr_assert_eq(stats(a).holds + stats(b).holds, 0);
}

/* ---- Closing one of its clients ----------------------------------------- */

CASE(multi, ends_every_wait_at_one_client_when_another_is_closed)
{
	dlock_client *c = open_store("fake://one?ttl=5s", NULL);
	dlock_lock *first[] = { mutex(c, "x"), y };
	dlock_lock *second[] = { mutex(c, "z"), y };
	struct taker taker[2] = { { 0 }, { 0 } };

	fake_occupy(two, DLK_LOCK, "y", 0);
	taker_start(&taker[0], multi(first, 2), -1);
	taker_start(&taker[1], multi(second, 2), -1);
	EVENTUALLY(stats(b).waiters == 2);
	close_within(c, 2000);
	cr_assert_eq(taker_join(&taker[0]), DLOCK_ECANCELED);
	cr_assert_eq(taker_join(&taker[1]), DLOCK_ECANCELED);
	cr_assert_eq(fake_held(one), 0);
	cr_assert_eq(fake_waiting(two), 0);
}

/* A mutex and a semaphore of the same name are unrelated. */
CASE(multi, of_too_many_members_or_of_one_lock_twice_is_refused)
{
	dlock_client *again =
		closed_at_end(open_store("fake://one?ttl=5s&ask=400ms", NULL));
	dlock_lock *m[] = { x, semaphore(a, "x", 2), mutex(again, "x") };
	dlock_lock *out = NULL;

	INVALID(dlock_multi_new(&out, m, 65537), "65536");
	INVALID(dlock_multi_new(&out, m, 3), "twice");
	cr_assert_null(out);
	OK(dlock_release(take(multi(m, 2))));
}

/* ---- The pause ----------------------------------------------------------- */

static dlk_time (*moving_clock)(void);
static _Atomic dlk_time stopped_at; /* 0: the clock goes */

static dlk_time stopping_clock(void)
{
	dlk_time at = atomic_load(&stopped_at);

	return at != 0 ? at : moving_clock();
}

static void set_up_clock(void)
{
	moving_clock = dlki_clock;
	dlki_clock = stopping_clock;
	set_up();
}

TestSuite(multi_pause, .init = set_up_clock, .timeout = 60);

/* y is busy, then x, and both were free before: the second pause has a length,
 * which does not pass while the clock stands. */
CASE(multi_pause, ends_with_a_cancel)
{
	struct taker taker = { 0 };

	FAKE_SCRIPT(one, FAKE_ATTEMPT, 0);
	fake_once(one, FAKE_ATTEMPT, FAKE_BUSY);
	fake_once(two, FAKE_ATTEMPT, FAKE_BUSY);
	atomic_store(&stopped_at, dlk_now());
	taker_start(&taker, multi((dlock_lock *[]){ x, y }, 2), -1);
	EVENTUALLY(fake_count(two, FAKE_RELEASE) == 2);
	dlock_cancel(taker.lock);
	EVENTUALLY(atomic_load(&taker.done));
	atomic_store(&stopped_at, 0);
	cr_assert_eq(taker_join(&taker), DLOCK_ECANCELED);
	cr_assert_eq(fake_held(one) + fake_held(two), 0);
}

CASE(multi, sticky_cancel_that_ends_a_wait_is_used_up)
{
	dlock_lock *both, *b;
	struct taker t = { 0 };

	given_mutex("fake:");
	b = mutex(client, "b");
	both = multi((dlock_lock *[]){ lock, b }, 2);
	OK(dlock_lock_sticky_cancel(both));
	hold = take(b);
	taker_start(&t, both, -1);
	EVENTUALLY(stats(client).waiters == 1);
	dlock_cancel(both);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	OK(dlock_release(hold));
	OK(dlock_acquire(both, 1000, &hold));
	OK(dlock_release(hold));
}
