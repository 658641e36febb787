/* SPDX-License-Identifier: Apache-2.0 */
/* How a hold is given up, and what happens to what may be left of it. */
#include "core/support.h"

static struct fake *fake;

static void set_up(void)
{
	stall_watch();
	OK(fake_register());
	fake = fake_store("");
}

TestSuite(release, .init = set_up, .timeout = 60);

struct releaser {
	pthread_t thread;
	dlock_lock *lock;
	atomic_int held, go;
	int rc;
	dlk_time done_at;
};

/* Mutexes are released by the thread that took them. */
static void *releaser_main(void *arg)
{
	struct releaser *r = arg;
	dlock_hold *h = NULL;

	if (dlock_acquire(r->lock, 5000, &h) != DLOCK_OK)
		return NULL;
	atomic_store(&r->held, 1);
	while (!atomic_load(&r->go))
		nap_ms(1);
	r->rc = dlock_release(h);
	r->done_at = dlk_now();
	return NULL;
}

static void releaser_start(struct releaser *r, dlock_lock *l)
{
	r->lock = l;
	cr_assert_eq(pthread_create(&r->thread, NULL, releaser_main, r), 0);
	EVENTUALLY(atomic_load(&r->held));
}

Test(release, waits_for_a_renewal_that_is_under_way_and_is_done_once)
{
	dlock_client *c = open_store("fake:?ttl=900ms", NULL);
	dlock_lock *l = mutex(c, "a");
	struct releaser r = { 0 };
	struct fake_call renewal, release;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .gate = 1, .overrun = 1 });
	releaser_start(&r, l);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	atomic_store(&r.go, 1);
	EVENTUALLY(stats(c).holds == 0);
	nap_ms(30);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 0);
	fake_open_gate(fake);
	pthread_join(r.thread, NULL);
	OK(r.rc);
	renewal = fake_last(fake, FAKE_RENEW);
	release = fake_last(fake, FAKE_RELEASE);
	cr_assert_geq(release.begin, renewal.end);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(stats(c).remnants, 0);
	dlock_free(l);
	close_store(c);
}

/* The renewal lasts longer than a release may. */
Test(release, does_not_wait_longer_than_the_close_time_for_a_renewal)
{
	dlock_client *c = open_store("fake:?ttl=3s&close=100ms&connect=1s",
				     NULL);
	dlock_lock *l = mutex(c, "a");
	struct releaser r = { 0 };
	dlk_time began;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .delay_ms = 600, .overrun = 1 });
	releaser_start(&r, l);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	began = dlk_now();
	atomic_store(&r.go, 1);
	pthread_join(r.thread, NULL);
	cr_assert_eq(r.rc, DLOCK_EUNREACHABLE);
	cr_assert_lt(r.done_at, late(began + 400 * DLKI_MS));
	cr_assert_eq(stats(c).remnants, 1);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

/* It stood when its release was asked for, which then took longer than the
 * lease: that the store has it no more is no loss. */
Test(release, that_outlasts_the_lease_is_no_loss)
{
	dlock_client *c = open_store("fake:?ttl=300ms&close=5s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_ELOST,
					.delay_ms = 400 });
	OK(dlock_release(h));
	cr_assert_eq(stats(c).lost, 0);
	dlock_free(l);
	close_store(c);
}

/* The store has proof that the lock was lost before. */
Test(release, of_what_the_store_no_longer_had_says_so)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=60s", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_ELOST });
	REFUSED(dlock_release(h), DLOCK_ELOST, "no longer had it");
	cr_assert_eq(stats(c).lost, 1);
	cr_assert_eq(stats(c).released, 0);
	cr_assert_eq(stats(c).holds, 0);
	cr_assert_eq(stats(c).remnants, 0);
	dlock_free(l);
	close_store(c);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(d.n, 0);
}

/* What is told to the keeper is told to nobody, and there is no more to do. */
Test(release, of_what_the_store_no_longer_had_is_not_repeated)
{
	dlock_client *c = open_store("fake:?ttl=60s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_ELOST,
					.times = FAKE_ALWAYS });
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	dlock_free(l);
	close_store(c);
}

Test(release, whose_answer_is_lost_is_cleaned_up_behind)
{
	dlock_client *c = open_store("fake:?ttl=5s&close=60ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE, .times = 3 });
	REFUSED(dlock_release(h), DLOCK_EUNREACHABLE, "no answer");
	cr_assert_eq(stats(c).holds, 0);
	cr_assert_eq(stats(c).released, 1);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 4);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

Test(release, is_not_asked_for_after_the_lease_must_have_run_out)
{
	dlock_client *c = open_store("fake:?ttl=1s&close=60ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlk_time granted;
	dlock_hold *h;

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	h = take(l);
	granted = fake_last(fake, FAKE_ATTEMPT).begin;
	cr_assert_eq(dlock_release(h), DLOCK_EUNREACHABLE);
	cr_assert_eq(stats(c).remnants, 1);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_geq(dlk_now(), granted + 1000 * DLKI_MS);
	cr_assert_geq(fake_count(fake, FAKE_RELEASE), 4);
	fake_clear(fake);
	dlock_free(l);
	close_store(c);
}

/* Nothing runs out here, so that asking goes on until somebody answers. */
Test(release, is_asked_for_until_answered_where_nothing_expires)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE, .times = 5 });
	cr_assert_eq(dlock_release(h), DLOCK_EUNREACHABLE);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 6);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

Test(release, keeps_its_time_with_a_silent_store)
{
	dlock_client *c = open_store("fake:?ttl=5s&close=150ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);
	dlk_time began = dlk_now();

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	cr_assert_eq(dlock_release(h), DLOCK_EUNREACHABLE);
	cr_assert_lt(dlk_now(), late(began + 400 * DLKI_MS));
	dlock_free(l);
	close_within(c, 700);
}

/* A store that breaks its word and says nothing about why. */
Test(release, that_fails_without_a_reason_has_a_message)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_CODE });
	REFUSED(dlock_release(h), DLOCK_EUNREACHABLE, "fake");
	dlock_free(l);
	close_store(c);
}

Test(release, of_a_lost_hold_tells_the_store_in_the_background)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	EVENTUALLY(fake_held(fake) == 0);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(stats(c).released, 0);
	dlock_free(l);
	close_store(c);
}

Test(release, by_another_thread_is_refused_for_what_belongs_to_a_thread)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *m = mutex(c, "a"), *s = NULL;
	struct taker t = { .keep = 1 };
	dlock_hold *mine;

	taker_start(&t, m, 0);
	OK(taker_join(&t));
	mine = t.hold;
	REFUSED(dlock_release(mine), DLOCK_EINVAL, "another thread");
	OK(dlock_check(mine));
	OK(dlock_semaphore_new(&s, c, "s", 2));
	t = (struct taker){ .keep = 1 };
	taker_start(&t, s, 0);
	OK(taker_join(&t));
	OK(dlock_release(t.hold));
	dlock_free(s);
	dlock_free(m);
	close_store(c);
	/* What is left of it belongs to nobody. */
	cr_assert_eq(dlock_release(mine), DLOCK_ELOST);
}

static dlock_hold *write_and_read(dlock_lock *l, dlock_hold **read)
{
	dlock_hold *w = take(l);

	OK(dlock_acquire_shared(l, 0, read));
	return w;
}

Test(release, of_the_write_side_keeps_it_where_the_store_refuses)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	dlock_lock *l = NULL;
	dlock_hold *w, *r = NULL;
	struct taker t = { .shared = 1 };

	OK(dlock_rwlock_new(&l, c, "a"));
	fake_script(fake, FAKE_DOWNGRADE,
		    (struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_EDENIED });
	w = write_and_read(l, &r);
	OK(dlock_release(w));
	OK(dlock_check(r));
	/* Still exclusive there: no other reader. */
	taker_start(&t, l, 0);
	cr_assert_eq(taker_join(&t), DLOCK_EBUSY);
	OK(dlock_release(r));
	cr_assert_eq(fake_held(fake), 0);
	w = write_and_read(l, &r);
	OK(dlock_release(w));
	t = (struct taker){ .shared = 1 };
	taker_start(&t, l, 0);
	OK(taker_join(&t));
	OK(dlock_release(r));
	dlock_free(l);
	close_store(c);
}

/* It is told at once, not by the next renewal. */
Test(release, of_the_write_side_finds_that_the_claim_is_gone)
{
	dlock_client *c = open_store("fake:?ttl=60s", NULL);
	dlock_lock *l = NULL;
	dlock_hold *w, *r = NULL;

	OK(dlock_rwlock_new(&l, c, "a"));
	fake_script(fake, FAKE_DOWNGRADE,
		    (struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_ELOST });
	w = write_and_read(l, &r);
	cr_assert_eq(dlock_release(w), DLOCK_ELOST);
	cr_assert_eq(dlock_check(r), DLOCK_ELOST);
	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
	EVENTUALLY(fake_held(fake) == 0);
	cr_assert_eq(stats(c).lost, 1);
	dlock_free(l);
	close_store(c);
}

Test(release, of_the_write_side_where_the_store_has_no_downgrade)
{
	dlock_client *c = open_store("fakebare:?ttl=5s", NULL);
	dlock_lock *l = NULL;
	dlock_hold *w, *r = NULL;

	OK(dlock_rwlock_new(&l, c, "a"));
	w = write_and_read(l, &r);
	OK(dlock_release(w));
	OK(dlock_check(r));
	OK(dlock_release(r));
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

Test(release, of_one_side_of_a_lost_hold_tells_of_the_loss)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	dlock_lock *l = NULL;
	dlock_hold *w, *r = NULL;

	OK(dlock_rwlock_new(&l, c, "a"));
	w = write_and_read(l, &r);
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	cr_assert_eq(dlock_release(w), DLOCK_ELOST);
	cr_assert_eq(fake_count(fake, FAKE_DOWNGRADE), 0);
	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}

struct writer {
	dlock_lock *lock;
	dlock_hold *read;
	atomic_int held, go;
	int rc, then;
};

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	dlock_hold *h = NULL;

	if (dlock_acquire(w->lock, 5000, &h) != DLOCK_OK ||
	    dlock_acquire_shared(w->lock, 0, &w->read) != DLOCK_OK)
		return NULL;
	atomic_store(&w->held, 1);
	while (!atomic_load(&w->go))
		nap_ms(1);
	w->rc = dlock_release(h);
	w->then = dlock_release(w->read);
	return NULL;
}

/* The store keeps the write side, and the reader goes on. */
Test(release, of_the_write_side_does_not_wait_longer_than_the_close_time)
{
	dlock_client *c = open_store("fake:?ttl=3s&close=100ms&connect=1s",
				     NULL);
	struct writer w = { 0 };
	pthread_t thread;

	OK(dlock_rwlock_new(&w.lock, c, "a"));
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .delay_ms = 600, .overrun = 1 });
	cr_assert_eq(pthread_create(&thread, NULL, writer_main, &w), 0);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	atomic_store(&w.go, 1);
	pthread_join(thread, NULL);
	OK(w.rc);
	cr_assert_eq(fake_count(fake, FAKE_DOWNGRADE), 0);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(w.lock);
	close_store(c);
}

/* One call at a time for a ticket: the renewal waits its turn. */
Test(release, of_the_write_side_holds_up_the_renewal_of_the_read_side)
{
	dlock_client *c = open_store("fake:?ttl=5s&check=20ms", NULL);
	struct writer w = { 0 };
	pthread_t thread;
	size_t n;

	OK(dlock_rwlock_new(&w.lock, c, "a"));
	fake_script(fake, FAKE_DOWNGRADE, (struct fake_step){ .gate = 1 });
	fake_script(fake, FAKE_RELEASE, (struct fake_step){ .gate = 1 });
	cr_assert_eq(pthread_create(&thread, NULL, writer_main, &w), 0);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) >= 1);
	atomic_store(&w.go, 1);
	EVENTUALLY(fake_count(fake, FAKE_DOWNGRADE) == 1);
	n = fake_count(fake, FAKE_RENEW);
	nap_ms(100);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), n);
	fake_open_gate(fake);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	fake_open_gate(fake);
	pthread_join(thread, NULL);
	OK(w.rc);
	OK(w.then);
	dlock_free(w.lock);
	close_store(c);
}

/* A hold is lost while its ticket is in use: the clean-up waits its turn. */
Test(release, of_what_is_lost_meanwhile_is_cleaned_up_later)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	struct writer w = { .go = 1 };
	pthread_t thread;

	OK(dlock_rwlock_new(&w.lock, c, "a"));
	fake_script(fake, FAKE_DOWNGRADE, (struct fake_step){ .gate = 1 });
	cr_assert_eq(pthread_create(&thread, NULL, writer_main, &w), 0);
	EVENTUALLY(fake_count(fake, FAKE_DOWNGRADE) == 1);
	fake_lose(fake, fake_last(fake, FAKE_DOWNGRADE).id);
	nap_ms(50);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 0);
	fake_open_gate(fake);
	pthread_join(thread, NULL);
	cr_assert_eq(w.then, DLOCK_ELOST);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(w.lock);
	close_store(c);
}

/* The hold is lost while the write side waits for a renewal to be over: the
 * store must not be asked to keep it. */
Test(release, of_the_write_side_of_what_is_lost_meanwhile_asks_for_nothing)
{
	dlock_client *c = open_store("fake:?ttl=900ms", NULL);
	struct writer w = { 0 };
	pthread_t thread;

	OK(dlock_rwlock_new(&w.lock, c, "a"));
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .gate = 1, .overrun = 1 });
	cr_assert_eq(pthread_create(&thread, NULL, writer_main, &w), 0);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	atomic_store(&w.go, 1);
	nap_ms(50);
	fake_lose(fake, fake_last(fake, FAKE_RENEW).id);
	fake_open_gate(fake);
	pthread_join(thread, NULL);
	cr_assert_eq(fake_count(fake, FAKE_DOWNGRADE), 0);
	cr_assert_eq(w.then, DLOCK_ELOST);
	dlock_free(w.lock);
	close_store(c);
}
