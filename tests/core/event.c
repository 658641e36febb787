/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatcher: what is told, how often, in which order, and from where. */
#include "core/support.h"

static struct fake *fake;

static void set_up(void)
{
	OK(fake_register());
	fake = fake_store("");
}

TestSuite(event, .init = set_up, .timeout = 120);

/* A callback that stays until it is let go, and does what it is told. */
struct stage {
	struct diary diary;
	atomic_int inside, go, calls;
	dlock_client *client;
	dlock_lock *lock, *rw, *other;
	dlock_hold *mine;
	int rc[16];
};

static void hold_up(dlock_hold *hold, enum dlock_event event, const char *why,
		    void *arg)
{
	struct stage *s = arg;

	write_event(hold, event, why, &s->diary);
	atomic_fetch_add(&s->inside, 1);
	while (!atomic_load(&s->go))
		nap_ms(1);
}

static dlock_options stage_options(struct stage *s, dlock_event_fn fn)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	*s = (struct stage){ .diary = DIARY_INIT };
	o.on_event = fn;
	o.on_log = NULL;
	o.arg = s;
	return o;
}

static uint64_t last_id(void)
{
	return fake_last(fake, FAKE_ATTEMPT).id;
}

Test(event, of_a_hold_holds_up_its_release_by_another)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:", &o);
	struct taker t = { .keep = 1 };
	dlock_lock *sem = NULL;
	dlock_hold *h;

	OK(dlock_semaphore_new(&sem, c, "s", 2));
	h = take(sem);
	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.inside) == 1);
	cr_assert_eq(s.diary.page[0].hold, h);
	/* A second permit has nothing to do with the callback. */
	taker_start(&t, sem, 1000);
	OK(taker_join(&t));
	OK(dlock_release(t.hold));
	atomic_store(&s.go, 1);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(sem);
	close_store(c);
}

struct waiting_release {
	dlock_hold *hold;
	atomic_int done;
	int rc;
};

static void *release_main(void *arg)
{
	struct waiting_release *w = arg;

	w->rc = dlock_release(w->hold);
	atomic_store(&w->done, 1);
	return NULL;
}

Test(event, is_over_before_the_hold_is)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:", &o);
	struct waiting_release w = { 0 };
	dlock_lock *sem = NULL;
	pthread_t thread;

	OK(dlock_semaphore_new(&sem, c, "s", 1));
	w.hold = take(sem);
	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.inside) == 1);
	cr_assert_eq(pthread_create(&thread, NULL, release_main, &w), 0);
	nap_ms(50);
	cr_assert_eq(atomic_load(&w.done), 0);
	atomic_store(&s.go, 1);
	pthread_join(thread, NULL);
	cr_assert_eq(w.rc, DLOCK_ELOST);
	dlock_free(sem);
	close_store(c);
}

static void *let_go_main(void *arg)
{
	struct stage *s = arg;

	nap_ms(100);
	atomic_store(&s->go, 1);
	return NULL;
}

/* Also when the claim stands on, for the sake of the read side. */
Test(event, of_the_write_side_is_over_before_that_is)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *l = rwlock(c, "a");
	dlock_hold *w = take(l), *r = NULL;
	pthread_t thread;

	OK(dlock_acquire_shared(l, 0, &r));
	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.inside) == 1);
	cr_assert_eq(s.diary.page[0].hold, w);
	cr_assert_eq(pthread_create(&thread, NULL, let_go_main, &s), 0);
	cr_assert_eq(dlock_release(w), DLOCK_ELOST);
	cr_assert_eq(atomic_load(&s.go), 1, "the callback still runs");
	pthread_join(thread, NULL);
	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}

/* A callback about the one side is nothing that the other waits for. */
Test(event, of_the_write_side_holds_up_no_release_of_the_read_side)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *l = rwlock(c, "a");
	dlock_hold *w = take(l), *r = NULL;

	OK(dlock_acquire_shared(l, 0, &r));
	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.inside) == 1);
	cr_assert_eq(s.diary.page[0].hold, w);
	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
	atomic_store(&s.go, 1);
	cr_assert_eq(dlock_release(w), DLOCK_ELOST);
	cr_assert_eq(s.diary.n, 1);
	dlock_free(l);
	close_store(c);
}

/* A healthy store is still told when the callback took longer than the release
 * may. */
Test(event, that_lasts_long_does_not_keep_the_store_from_being_told)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:?ttl=5s&check=50ms&close=100ms", &o);
	struct waiting_release w = { 0 };
	dlock_lock *sem = NULL;
	pthread_t thread;

	OK(dlock_semaphore_new(&sem, c, "s", 1));
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	w.hold = take(sem);
	EVENTUALLY(atomic_load(&s.inside) == 1);
	cr_assert_eq(s.diary.page[0].event, DLOCK_AT_RISK);
	cr_assert_eq(pthread_create(&thread, NULL, release_main, &w), 0);
	nap_ms(200);
	atomic_store(&s.go, 1);
	pthread_join(thread, NULL);
	OK(w.rc);
	cr_assert_gt(fake_last(fake, FAKE_RELEASE).deadline,
		     fake_last(fake, FAKE_RELEASE).begin);
	dlock_free(sem);
	close_store(c);
}

/* In trouble and out of it while a callback runs: nothing to tell. */
Test(event, that_was_taken_back_before_it_was_told_is_not_told)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:?ttl=5s&check=30ms", &o);
	dlock_lock *la = mutex(c, "a"), *lb = mutex(c, "b");
	dlock_hold *a = take(la), *b;

	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.inside) == 1);
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE });
	b = take(lb);
	EVENTUALLY(stats(c).renew_failed >= 1 && stats(c).renewed >= 1);
	atomic_store(&s.go, 1);
	fake_lose(fake, last_id());
	EVENTUALLY(diary_count(&s.diary, DLOCK_LOST) == 2);
	cr_assert_eq(s.diary.n, 2);
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

/* The last word of a hold that is in trouble must not be SAFE. */
Test(event, of_safety_is_taken_back_by_new_trouble)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:?ttl=10s&check=30ms", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE });
	fake_script(fake, FAKE_RENEW, (struct fake_step){ 0 });
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	h = take(l);
	EVENTUALLY(atomic_load(&s.inside) == 1);
	cr_assert_eq(s.diary.page[0].event, DLOCK_AT_RISK);
	EVENTUALLY(stats(c).renewed == 1 && stats(c).renew_failed >= 2);
	atomic_store(&s.go, 1);
	nap_ms(100);
	cr_assert_eq(diary_count(&s.diary, DLOCK_SAFE), 0,
		     "SAFE was the last word, and it is not");
	fake_clear(fake);
	EVENTUALLY(diary_count(&s.diary, DLOCK_SAFE) == 1);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(event, is_told_of_both_sides_of_a_writer)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *l = NULL;
	dlock_hold *w, *r = NULL;

	OK(dlock_rwlock_new(&l, c, "a"));
	w = take(l);
	OK(dlock_acquire_shared(l, 0, &r));
	fake_lose(fake, last_id());
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 2);
	cr_assert_eq(d.page[0].hold, w);
	cr_assert_eq(d.page[1].hold, r);
	cr_assert_eq(dlock_release(w), DLOCK_ELOST);
	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}

Test(event, is_not_told_of_a_hold_that_was_released)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *la = mutex(c, "a"), *lb = mutex(c, "b");
	dlock_hold *a = take(la), *b;

	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.inside) == 1);
	b = take(lb);
	fake_lose(fake, last_id());
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
	atomic_store(&s.go, 1);
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	nap_ms(50);
	cr_assert_eq(s.diary.n, 1);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

static void count_party(const struct dlock_party *p, void *arg)
{
	(void)p;
	++*(int *)arg;
}

static void count_entry(const struct dlock_entry *e, void *arg)
{
	(void)e;
	++*(int *)arg;
}

/* Everything that a callback may call, and what it may not. */
static void call_all(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	struct stage *s = arg;
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_lock *lock = NULL, *multi = NULL;
	dlock_hold *h = NULL;
	int i = 0, n = 0;

	(void)event;
	(void)why;
	s->rc[i++] = dlock_check(hold) == DLOCK_ELOST;
	s->rc[i++] = dlock_remaining_ms(hold) == 0 && dlock_token(hold) > 0;
	s->rc[i++] = dlock_hold_fd(hold) >= 0;
	s->rc[i++] = dlock_mutex_new(&lock, s->client, "inner") == 0;
	s->rc[i++] = dlock_acquire(lock, 1000, &h) == 0 &&
		     dlock_release(h) == 0;
	s->rc[i++] = dlock_acquire_shared(s->rw, 1000, &h) == 0 &&
		     dlock_release(h) == 0;
	s->rc[i++] = dlock_multi_new(&multi, &lock, 1) == 0 &&
		     dlock_acquire(multi, 1000, &h) == 0 &&
		     dlock_release(h) == 0;
	dlock_cancel(lock);
	s->rc[i++] = dlock_inspect(lock, count_party, &n, 1000) == 0;
	s->rc[i++] = dlock_list(s->client, count_entry, &n, 1000) == 0;
	s->rc[i++] = dlock_break(lock, 1000) == 0;
	s->rc[i++] = dlock_get_stats(s->client, &st) == 0;
	s->rc[i++] = dlock_ttl_ms(s->client) == 0 && dlock_caps(s->client);
	s->rc[i++] = dlock_release(hold) == DLOCK_ELOST;
	dlock_free(multi);
	dlock_free(lock);
	dlock_close(s->client);
	atomic_store(&s->calls, i);
}

static void log_of_stage(int level, const char *text, void *arg)
{
	struct stage *s = arg;

	write_log(level, text, &s->diary);
}

Test(event, may_call_anything_and_close_does_nothing)
{
	struct stage s;
	dlock_options o = stage_options(&s, call_all);
	dlock_lock *sem = NULL;

	o.on_log = log_of_stage;
	s.client = open_store("fake:", &o);
	OK(dlock_semaphore_new(&sem, s.client, "s", 1));
	OK(dlock_rwlock_new(&s.rw, s.client, "rw"));
	take(sem);
	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.calls) > 0);
	for (int i = 0; i < atomic_load(&s.calls); i++)
		cr_assert(s.rc[i], "call %d", i);
	cr_assert(strstr(s.diary.log, "dlock_close() in an event callback"));
	/* It is open still. */
	OK(dlock_release(take(s.rw)));
	dlock_free(s.rw);
	dlock_free(sem);
	close_store(s.client);
}

/* A callback about one permit releases another one. */
static void release_other(dlock_hold *hold, enum dlock_event event,
			  const char *why, void *arg)
{
	struct stage *s = arg;

	(void)hold;
	(void)event;
	(void)why;
	s->rc[0] = dlock_release(s->mine);
	atomic_fetch_add(&s->calls, 1);
}

Test(event, may_release_another_permit)
{
	struct stage s;
	dlock_options o = stage_options(&s, release_other);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *sem = NULL;
	dlock_hold *h;

	OK(dlock_semaphore_new(&sem, c, "s", 2));
	s.mine = take(sem);
	h = take(sem);
	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.calls) == 1);
	OK(s.rc[0]);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(sem);
	close_store(c);
}

static void count_event(dlock_hold *hold, enum dlock_event event,
			const char *why, void *arg)
{
	struct stage *s = arg;

	(void)hold;
	(void)why;
	if (event == DLOCK_LOST)
		atomic_fetch_add(&s->calls, 1);
}

Test(event, of_a_loss_comes_once)
{
	struct stage s;
	dlock_options o = stage_options(&s, count_event);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.calls) > 0);
	/* It returns after a callback that is still under way. */
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	cr_assert_eq(atomic_load(&s.calls), 1);
	dlock_free(l);
	close_store(c);
}

struct racer {
	atomic_ullong id;
	atomic_int stop;
};

static void *racer_main(void *arg)
{
	struct racer *r = arg;
	uint64_t done = 0;

	while (!atomic_load(&r->stop)) {
		uint64_t id = atomic_load(&r->id);

		if (id == done)
			continue;
		fake_lose(fake, id);
		done = id;
	}
	return NULL;
}

/* Release against loss: each is told at most once, and what release answered
 * agrees with it. */
Test(event, of_a_loss_comes_once_whoever_wins_the_race)
{
	struct stage s;
	dlock_options o = stage_options(&s, count_event);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *l = mutex(c, "a");
	struct racer r = { 0 };
	pthread_t thread;
	int lost = 0;
	int told;

	cr_assert_eq(pthread_create(&thread, NULL, racer_main, &r), 0);
	for (int i = 0; i < 100000; i++) {
		dlock_hold *h = take(l);
		int rc;

		atomic_store(&r.id, last_id());
		if (i % 3 == 0)
			sched_yield();
		rc = dlock_release(h);
		cr_assert(rc == DLOCK_OK || rc == DLOCK_ELOST);
		lost += rc == DLOCK_ELOST;
	}
	atomic_store(&r.stop, 1);
	pthread_join(thread, NULL);
	/* A loss that the release met first is told by the release alone. */
	told = atomic_load(&s.calls);
	cr_assert_leq(told, lost);
	cr_assert_eq((int)stats(c).lost, lost);
	cr_assert_gt(lost, 0);
	cr_assert_lt(lost, 100000);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(stats(c).holds, 0);
	dlock_free(l);
	close_store(c);
}

/* What is lost is in danger no more, and has not been saved. */
Test(event, that_a_loss_has_overtaken_is_not_told)
{
	struct stage s;
	dlock_options o = stage_options(&s, hold_up);
	dlock_client *c = open_store("fake:?ttl=5s&check=30ms", &o);
	dlock_lock *la = mutex(c, "a"), *lb = mutex(c, "b");
	dlock_hold *a = take(la), *b;

	fake_lose(fake, last_id());
	EVENTUALLY(atomic_load(&s.inside) == 1);
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	b = take(lb);
	EVENTUALLY(stats(c).renew_failed >= 1);
	fake_lose(fake, last_id());
	EVENTUALLY(dlock_check(b) == DLOCK_ELOST);
	atomic_store(&s.go, 1);
	EVENTUALLY(diary_count(&s.diary, DLOCK_LOST) == 2);
	cr_assert_eq(s.diary.n, 2, "told of a danger that had passed");
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

Test(event, says_why_in_whole_characters)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);
	char why[97];

	/* Half an a-umlaut is the last that there is room for. */
	memset(why, 'x', sizeof(why));
	memcpy(why + 94, "\xc3\xa4", sizeof("\xc3\xa4"));
	fake_lose_saying(fake, last_id(), why);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	why[94] = '\0';
	cr_assert_str_eq(d.page[0].why, why);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}
