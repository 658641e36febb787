/* SPDX-License-Identifier: Apache-2.0 */
/* Upgrades: a reader becomes a writer, or stays a reader. */
#include "core/fixture.h"

TestSuite(upgrade, .init = timed_fixture, .timeout = 60);

static dlock_hold *none;

/* The attempts for the first hold, in order. */
enum { GATE, READ };

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

/* ---- An upgrade in a thread ---------------------------------------------- */

struct upgrader {
	pthread_t thread;
	int64_t timeout_ms;
	atomic_int done;
	int rc;
	dlock_hold *writes;
};

static void *run_upgrader(void *arg)
{
	struct upgrader *u = arg;

	u->rc = dlock_upgrade(upg, hold, u->timeout_ms, &u->writes);
	atomic_store(&u->done, 1);
	return NULL;
}

/* Starts an upgrade. The hold must be unbound. */
static void upgrader_starts(struct upgrader *u, int64_t timeout_ms)
{
	*u = (struct upgrader){ .timeout_ms = timeout_ms };
	cr_assert_eq(pthread_create(&u->thread, NULL, run_upgrader, u), 0);
}

/* The same, and returns when the upgrade waits. */
static void upgrader_waits(struct upgrader *u, int64_t timeout_ms)
{
	upgrader_starts(u, timeout_ms);
	EVENTUALLY(stats(client).waiters == 1);
}

static int upgrader_join(struct upgrader *u)
{
	cr_assert_eq(pthread_join(u->thread, NULL), 0);
	return u->rc;
}

/* Makes `hold` an unbound upgradeable reader, and returns a reader of another
 * client. */
static dlock_hold *given_reader(const char *uri)
{
	dlock_client *other;

	given_rwlock(uri);
	OK(dlock_lock_unbind(lock));
	upg = upgradeable(lock);
	hold = take(upg);
	other = closed_at_end(open_store(uri, NULL));
	return take_shared(rwlock(other, "a"), 0);
}

/* ---- Both sides ---------------------------------------------------------- */

CASE(upgrade, is_of_the_thread_that_reads)
{
	struct taker t = { .keep = 1 };

	given_rwlock("fake:");
	upg = upgradeable(lock);
	taker_start(&t, upg, 0);
	OK(taker_join(&t));
	REFUSED(dlock_upgrade(upg, t.hold, 0, &none), DLOCK_EINVAL,
		"another thread");
	close_client();
	cr_assert_eq(dlock_release(t.hold), DLOCK_ELOST);
}

/* ---- Losses -------------------------------------------------------------- */

CASE(upgrade, ends_with_a_read_side_that_is_lost)
{
	dlock_hold *reader = given_reader("fake:");
	struct upgrader u;

	upgrader_waits(&u, FOREVER);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, READ).id);
	cr_assert_eq(upgrader_join(&u), DLOCK_ELOST);
	EVENTUALLY(fake_waiting(fake) == 0);
	drop_hold(hold);
	give(reader);
}

/* The store answers later: others still read. */
CASE(upgrade, ends_with_a_read_side_that_is_lost_while_it_asks)
{
	dlock_hold *reader = given_reader("fake:");
	size_t before = fake_count(fake, FAKE_ATTEMPT);
	struct upgrader u;

	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1);
	upgrader_starts(&u, FOREVER);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) > before);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, READ).id);
	fake_open_gate(fake);
	cr_assert_eq(upgrader_join(&u), DLOCK_ELOST);
	drop_hold(hold);
	give(reader);
}

CASE(upgrade, is_refused_to_one_that_lost_the_gate)
{
	given_upgradeable("fake:?ttl=5s");
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, GATE).id);
	cr_assert_eq(dlock_check(dlock_member(hold, 1)), DLOCK_ELOST);
	OK(dlock_check(dlock_member(hold, 0)));
	REFUSED(dlock_upgrade(upg, hold, 0, &none), DLOCK_ELOST, "lost");
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

/* The answer comes after the loss. The upgrade is released in the time of the
 * call. */
CASE(upgrade, of_a_lost_hold_is_over_in_time)
{
	struct upgrader u = { .timeout_ms = 0 };
	struct fake_call attempt;

	given_rwlock("fake:?ttl=5s&ask=20s&close=60s");
	OK(dlock_lock_unbind(lock));
	upg = upgradeable(lock);
	hold = take(upg);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1);
	cr_assert_eq(pthread_create(&u.thread, NULL, run_upgrader, &u), 0);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 3);
	fake_lose(fake, fake_nth(fake, FAKE_ATTEMPT, GATE).id);
	EVENTUALLY(dlock_check(dlock_member(hold, 1)) == DLOCK_ELOST);
	fake_open_gate(fake);
	cr_assert_eq(upgrader_join(&u), DLOCK_ELOST);
	attempt = fake_nth(fake, FAKE_ATTEMPT, 2);
	cr_assert_leq(fake_first(fake, FAKE_RELEASE, attempt.id).deadline,
		      attempt.begin + 20000 * DLK_MS);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

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
