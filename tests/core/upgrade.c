/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades: a reader becomes a writer, or stays a reader. */
#include "core/fixture.h"

TestSuite(upgrade, .init = timed_fixture, .timeout = 60);

static dlock_hold *none;

static dlock_lock *upg;

/* Makes `hold` an upgradeable reader of "a". */
static void given_upgradeable(const char *uri)
{
	given_rwlock(uri);
	upg = upgradeable(lock);
	hold = take(upg);
}

static dlock_hold *upgraded(void)
{
	dlock_hold *w = NULL;

	OK(dlock_upgrade(upg, hold, patience_ms(), &w));
	return w;
}

/* ---- Both sides ---------------------------------------------------------- */

CASE(upgrade, is_of_the_thread_that_reads)
{
	struct taker t = { .keep = 1 };

	given_rwlock("fake:");
	upg = upgradeable(lock);
	taker_start(&t, upg, 0);
	OK(taker_join(&t));
	INVALID(dlock_upgrade(upg, t.hold, 0, &none), "another thread");
	close_client();
	cr_assert_eq(dlock_release(t.hold), DLOCK_ELOST);
}

/* ---- Losses -------------------------------------------------------------- */

CASE(upgrade, that_is_lost_leaves_the_read_side)
{
	dlock_hold *w, *none = NULL;

	keep_diary();
	given_upgradeable("fake:?ttl=5s");
	w = upgraded();
	lose_last();
	EVENTUALLY(diary.losses == 1);
	cr_assert_eq(dlock_check(w), DLOCK_ELOST);
	OK(dlock_check(hold));
	REFUSED(dlock_upgrade(upg, hold, 0, &none), DLOCK_ELOST,
		"release it first");
	cr_assert_eq(dlock_release(w), DLOCK_ELOST);
	OK(dlock_release(upgraded()));
	OK(dlock_release(hold));
}

/* ---- Other holders ------------------------------------------------------- */

/* The upgrade is released to the store, where the read side stands on. */
CASE(upgrade, is_passed_to_nobody_and_not_kept)
{
	struct taker t = { 0 };
	dlock_hold *w;

	given_upgradeable("fakewant:?keep=5s");
	w = upgraded();
	REFUSED(dlock_revocable(w), DLOCK_ENOTSUP, "dlock_upgrade");
	taker_start(&t, mutex(client, "a"), FOREVER);
	EVENTUALLY(stats(client).waiters == 1);
	OK(dlock_release(w));
	ALL_ALONG(20, !atomic_load(&t.done));
	cr_assert_eq(stats(client).passed, 0);
	OK(dlock_release(hold));
	OK(taker_join(&t));
}

CASE(upgrade, names_a_holder_that_is_not_itself)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_hold *theirs, *none = NULL;
	dlock_client *other;

	given_upgradeable("fake:?ask=5s");
	o.label = "a reader";
	other = closed_at_end(open_store("fake:", &o));
	theirs = take_shared(rwlock(other, "a"), 0);
	REFUSED(dlock_upgrade(upg, hold, 0, &none), DLOCK_EBUSY,
		"lock 'a': held by a reader");
	cr_assert_null(strstr(dlock_errmsg(), "more"));
	OK(dlock_release(theirs));
	OK(dlock_release(hold));
}

CASE(upgrade, side_waits_for_the_release_of_a_lost_hold)
{
	given_rwlock("fake:?ttl=5s");
	hold = take_shared(lock, 0);
	lose_last();
	REFUSED(dlock_acquire(upgradeable(lock), 0, &none), DLOCK_ELOST,
		"release it first");
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

CASE(upgrade, needs_a_store_that_has_it)
{
	dlock_lock *none = NULL;

	given_rwlock("fake:?without=32768");
	REFUSED(dlock_upgradeable_new(&none, lock), DLOCK_ENOTSUP,
		"has no upgradeable read side");
	cr_assert_null(none);
}
