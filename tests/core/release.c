/* SPDX-License-Identifier: Apache-2.0 */
/* Releases, and clean-ups of releases that failed. */
#include "core/fixture.h"

TestSuite(release, .init = timed_fixture, .timeout = 60);

/* The lease ended during the release, so the store's answer shows no loss. */
CASE(release, that_outlasts_the_lease_is_no_loss)
{
	given_hold("fake:?ttl=300ms&close=5s");
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_CODE, .code = DLOCK_ELOST,
		    .delay_ms = 400);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).lost, 0);
}

/* The store has proof of a loss before the release. */
CASE(release, of_what_the_store_no_longer_had_says_so)
{
	keep_diary();
	given_hold("fake:?ttl=60s");
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_CODE,
		    .code = DLOCK_ELOST);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "no longer had it");
	cr_assert_eq(stats(client).lost, 1);
	cr_assert_eq(stats(client).released, 0);
	cr_assert_eq(stats(client).holds, 0);
	cr_assert_eq(stats(client).pending_cleanups, 0);
	close_client();
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(diary.n, 0);
}

/* The answer to the renewer is no event, and ends the clean-up. */
CASE(release, of_what_the_store_no_longer_had_is_not_repeated)
{
	given_hold("fake:?ttl=60s");
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_CODE, .code = DLOCK_ELOST,
		    .times = FAKE_ALWAYS);
	lose_last();
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
}

/* The store breaks the rule that a failure has a code. */
CASE(release, that_fails_without_a_reason_has_a_message)
{
	given_hold("fake:");
	fake_once(fake, FAKE_RELEASE, FAKE_CODE);
	REFUSED(dlock_release(hold), DLOCK_EUNREACHABLE, "fake");
}

static dlock_hold *write_and_read(dlock_lock *l, dlock_hold **read)
{
	dlock_hold *w = take(l);

	OK(dlock_acquire_shared(l, 0, read));
	return w;
}

CASE(release, of_the_write_side_keeps_it_where_the_store_refuses)
{
	dlock_hold *w, *r = NULL;
	struct taker t = { .shared = 1 };

	given_rwlock("fake:?ttl=5s");
	FAKE_SCRIPT(fake, FAKE_DOWNGRADE, .fault = FAKE_CODE,
		    .code = DLOCK_EDENIED);
	w = write_and_read(lock, &r);
	OK(dlock_release(w));
	OK(dlock_check(r));
	/* The claim in the store is still exclusive. */
	taker_start(&t, lock, 0);
	cr_assert_eq(taker_join(&t), DLOCK_EBUSY);
	OK(dlock_release(r));
	cr_assert_eq(fake_held(fake), 0);
	w = write_and_read(lock, &r);
	OK(dlock_release(w));
	t = (struct taker){ .shared = 1 };
	taker_start(&t, lock, 0);
	OK(taker_join(&t));
	OK(dlock_release(r));
}

/* The release tells of the loss, not the next renewal. */
CASE(release, of_the_write_side_finds_that_the_claim_is_gone)
{
	dlock_hold *w, *r = NULL;

	given_rwlock("fake:?ttl=60s");
	FAKE_SCRIPT(fake, FAKE_DOWNGRADE, .fault = FAKE_CODE,
		    .code = DLOCK_ELOST);
	w = write_and_read(lock, &r);
	cr_assert_eq(dlock_release(w), DLOCK_ELOST);
	cr_assert_eq(dlock_check(r), DLOCK_ELOST);
	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
	EVENTUALLY(fake_held(fake) == 0);
	cr_assert_eq(stats(client).lost, 1);
}

CASE(release, of_the_write_side_where_the_store_has_no_downgrade)
{
	dlock_hold *w, *r = NULL;

	given_rwlock("fakebare:?ttl=5s");
	w = write_and_read(lock, &r);
	OK(dlock_release(w));
	OK(dlock_check(r));
	OK(dlock_release(r));
	cr_assert_eq(fake_held(fake), 0);
}

static struct {
	pthread_t thread;
	atomic_int go;
	int rc, then; /* of the write side, and of the read side */
} w;

static void *writer_main(void *arg)
{
	dlock_hold *r = NULL, *h = write_and_read(lock, &r);

	while (!atomic_load(&w.go))
		nap_ms(1);
	w.rc = dlock_release(h);
	w.then = dlock_release(r);
	return arg;
}

static void writer_starts(int go)
{
	w.go = go;
	w.thread = thread_begin(writer_main, NULL);
}

/* The store keeps the write side, and the reader goes on. */
CASE(release, of_the_write_side_does_not_wait_longer_than_the_close_time)
{
	given_rwlock("fake:?ttl=1500ms&close=100ms&connect=1s");
	FAKE_SCRIPT(fake, FAKE_RENEW, .delay_ms = 500, .overrun = 1);
	writer_starts(0);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	atomic_store(&w.go, 1);
	pthread_join(w.thread, NULL);
	OK(w.rc);
	cr_assert_eq(fake_count(fake, FAKE_DOWNGRADE), 0);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_eq(fake_held(fake), 0);
}

/* The hold is lost while the release of the write side waits for a renewal, so
 * the store must see no downgrade. */
CASE(release, of_the_write_side_of_what_is_lost_meanwhile_asks_for_nothing)
{
	given_rwlock("fake:?ttl=900ms");
	FAKE_SCRIPT(fake, FAKE_RENEW, .gate = 1, .overrun = 1);
	writer_starts(0);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	atomic_store(&w.go, 1);
	EVENTUALLY(calls_under_way(client) == 1);
	fake_lose(fake, fake_last(fake, FAKE_RENEW).id);
	fake_open_gate(fake);
	pthread_join(w.thread, NULL);
	cr_assert_eq(fake_count(fake, FAKE_DOWNGRADE), 0);
	cr_assert_eq(w.then, DLOCK_ELOST);
}

/* Without a lease, the clean-up goes on until the store answers. */
CASE(release, is_asked_for_until_answered_where_nothing_expires)
{
	given_hold("fake:");
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_REFUSE, .times = 5);
	cr_assert_eq(dlock_release(hold), DLOCK_EUNREACHABLE);
	EVENTUALLY(stats(client).pending_cleanups == 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 6);
	cr_assert_eq(fake_held(fake), 0);
}
