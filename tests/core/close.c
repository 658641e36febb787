/* SPDX-License-Identifier: Apache-2.0 */
/* Closing: with calls under way, with holds, with remnants, in time. */
#include "core/support.h"

#include <dirent.h>
#include <poll.h>

#include "core/client.h"

static struct fake *fake;

static void set_up(void)
{
	stall_watch();
	OK(fake_register());
	fake = fake_store("");
}

TestSuite(close, .init = set_up, .timeout = 60);

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

Test(close, leaves_no_thread_and_no_descriptor)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	int fds = entries("/proc/self/fd");
	int threads = entries("/proc/self/task");
	dlock_client *c = open_store("fake:?ttl=5s", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	cr_assert_geq(dlock_hold_fd(h), 0);
	cr_assert_gt(entries("/proc/self/fd"), fds);
	cr_assert_eq(entries("/proc/self/task"), threads + 3);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
	cr_assert_eq(entries("/proc/self/fd"), fds);
	EVENTUALLY(entries("/proc/self/task") == threads);
}

Test(close, of_nothing_does_nothing)
{
	dlock_close(NULL);
	dlock_free(NULL);
	dlock_cancel(NULL);
}

Test(close, ends_holds_which_answer_that_they_are_lost)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=5s", &o);
	dlock_lock *l = mutex(c, "a"), *s = NULL, *m = NULL;
	dlock_hold *a = take(l), *b, *all;
	dlock_lock *members[1];
	dlock_hold *h = NULL;

	OK(dlock_semaphore_new(&s, c, "s", 3));
	b = take(s);
	members[0] = s;
	OK(dlock_multi_new(&m, members, 1));
	all = take(m);
	close_store(c);
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_eq(dlock_check(a), DLOCK_ELOST);
	cr_assert_eq(dlock_check(all), DLOCK_ELOST);
	cr_assert_eq(d.n, 0, "no event comes of closing");
	cr_assert_eq(dlock_acquire(s, 0, &h), DLOCK_ECANCELED);
	cr_assert_eq(dlock_acquire(m, 0, &h), DLOCK_ECANCELED);
	dlock_cancel(s);
	REFUSED(dlock_release(a), DLOCK_ELOST, "closed");
	dlock_free(l);
	REFUSED(dlock_release(b), DLOCK_ELOST, "closed");
	dlock_free(s);
	cr_assert_eq(dlock_release(all), DLOCK_ELOST);
	dlock_free(m);
}

Test(close, ends_waits)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t[4] = { { 0 } };

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	for (int i = 0; i < 4; i++)
		taker_start(&t[i], l, -1);
	EVENTUALLY(stats(c).waiters == 4);
	close_within(c, 1000);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(taker_join(&t[i]), DLOCK_ECANCELED);
	cr_assert_eq(fake_waiting(fake), 0);
	dlock_free(l);
}

/* Granted while closing: given back. */
Test(close, does_not_keep_what_is_granted_meanwhile)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { .keep = 1 };

	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .delay_ms = 200 });
	taker_start(&t, l, -1);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 1);
	close_within(c, 1500);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
}

/* Nobody answers any more, in no verb; `close` is all the time there is. */
Test(close, keeps_its_time_with_a_silent_store)
{
	dlock_client *c = open_store("fake:?ttl=900ms&close=300ms", NULL);
	dlock_lock *l = mutex(c, "a"), *lb = mutex(c, "b"), *lc = mutex(c, "c");
	dlock_hold *a = take(l), *b = take(lb), *h = NULL;
	struct taker t = { 0 };

	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	fake_script(fake, FAKE_CLOSE,
		    (struct fake_step){ .fault = FAKE_SILENT });
	cr_assert_eq(dlock_release(b), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_acquire(lb, 0, &h), DLOCK_EUNREACHABLE);
	taker_start(&t, lc, -1);
	EVENTUALLY(fake_last(fake, FAKE_ATTEMPT).end == 0);
	close_within(c, 300 + 200);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	dlock_free(l);
	dlock_free(lb);
	dlock_free(lc);
}

/* The keeper has just begun to ask when the client closes. */
Test(close, keeps_its_time_while_a_renewal_hangs)
{
	dlock_client *c = open_store("fake:?ttl=900ms&close=300ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	h = take(l);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	close_within(c, 300 + 200);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(l);
}

/* ... and had something to clean up after that. */
Test(close, keeps_its_time_while_a_renewal_hangs_and_remnants_wait)
{
	dlock_client *c = open_store("fake:?ttl=3s&close=500ms", NULL);
	dlock_lock *l[] = { mutex(c, "a"), mutex(c, "b"), mutex(c, "c") };
	dlock_hold *h[] = { take(l[0]), take(l[1]), take(l[2]) };

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE, .times = 2 });
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	cr_assert_eq(dlock_release(h[1]), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_release(h[2]), DLOCK_EUNREACHABLE);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	close_within(c, 500 + 250);
	cr_assert_eq(dlock_release(h[0]), DLOCK_ELOST);
	for (int i = 0; i < 3; i++)
		dlock_free(l[i]);
}

Test(close, tells_the_store_of_remnants)
{
	dlock_client *c = open_store("fake:?ttl=60s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	cr_assert_eq(dlock_release(h), DLOCK_EUNREACHABLE);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) >= 4);
	cr_assert_eq(fake_held(fake), 1);
	fake_clear(fake);
	close_within(c, 1000);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
}

struct releasing {
	atomic_int inside, closing;
	dlock_hold *held;
	int rc;
};

/* Begins before the client closes, and releases when it is closing. */
static void release_late(dlock_hold *hold, enum dlock_event event,
			 const char *why, void *arg)
{
	struct releasing *r = arg;

	(void)hold;
	(void)event;
	(void)why;
	atomic_store(&r->inside, 1);
	while (!atomic_load(&r->closing))
		nap_ms(1);
	nap_ms(100);
	r->rc = dlock_release(r->held);
}

static void *begin_close(void *arg)
{
	struct releasing *r = arg;

	atomic_store(&r->closing, 1);
	return NULL;
}

Test(close, goes_with_a_release_in_a_callback_that_is_running)
{
	struct releasing r = { 0 };
	dlock_options o = DLOCK_OPTIONS_INIT;
	dlock_lock *s = NULL;
	dlock_client *c;
	dlock_hold *h;
	pthread_t thread;

	o.on_event = release_late;
	o.arg = &r;
	c = open_store("fake:?ttl=60s", &o);
	OK(dlock_semaphore_new(&s, c, "s", 2));
	r.held = take(s);
	h = take(s);
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	EVENTUALLY(atomic_load(&r.inside));
	cr_assert_eq(pthread_create(&thread, NULL, begin_close, &r), 0);
	close_within(c, 3000);
	pthread_join(thread, NULL);
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(s);
}

struct late_release {
	dlock_hold *hold;
	int rc;
};

static void *late_release_main(void *arg)
{
	struct late_release *r = arg;

	r->rc = dlock_release(r->hold);
	return NULL;
}

static atomic_int inside, go;

static void linger(dlock_hold *hold, enum dlock_event event, const char *why,
		   void *arg)
{
	(void)hold;
	(void)event;
	(void)why;
	(void)arg;
	atomic_store(&inside, 1);
	while (!atomic_load(&go))
		nap_ms(1);
	nap_ms(100);
}

/* A release that waits for a callback while the client begins to close. */
Test(close, goes_with_a_release_that_waits_for_a_callback)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct late_release r = { 0 };
	dlock_lock *s = NULL;
	dlock_client *c;
	pthread_t thread;

	o.on_event = linger;
	c = open_store("fake:?ttl=60s&check=20ms", &o);
	OK(dlock_semaphore_new(&s, c, "s", 2));
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	r.hold = take(s);
	EVENTUALLY(atomic_load(&inside));
	cr_assert_eq(pthread_create(&thread, NULL, late_release_main, &r), 0);
	nap_ms(100);
	atomic_store(&go, 1);
	close_within(c, 3000);
	pthread_join(thread, NULL);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(s);
}

/* A claim is lost while its handle is released by closing. */
Test(close, bears_losses_that_come_meanwhile)
{
	dlock_client *c = open_store("fake:?ttl=60s", NULL);
	dlock_lock *l[8];
	dlock_hold *h[8];
	char name[] = "a";

	for (int i = 0; i < 8; i++) {
		name[0] = (char)('a' + i);
		l[i] = mutex(c, name);
		h[i] = take(l[i]);
	}
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	close_store(c);
	for (int i = 0; i < 8; i++) {
		cr_assert_eq(dlock_release(h[i]), DLOCK_ELOST);
		dlock_free(l[i]);
	}
}

static void *close_main(void *client)
{
	dlock_close(client);
	return NULL;
}

/* The store may have heard of the first already, and given it to others. */
Test(close, ends_every_promise_before_the_store_is_told)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=60s&close=60s", &o);
	dlock_lock *l[] = { mutex(c, "a"), mutex(c, "b") };
	dlock_hold *h[] = { take(l[0]), take(l[1]) };
	struct pollfd p = { .fd = dlock_hold_fd(h[0]), .events = POLLIN };
	pthread_t thread;

	fake_script(fake, FAKE_RELEASE, (struct fake_step){ .gate = 1 });
	cr_assert_eq(pthread_create(&thread, NULL, close_main, c), 0);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(dlock_check(h[i]), DLOCK_ELOST);
		cr_assert_eq(dlock_remaining_ms(h[i]), 0);
	}
	cr_assert_eq(poll(&p, 1, 0), 1);
	REFUSED(dlock_release(h[0]), DLOCK_ELOST, "the client was closed");
	fake_open_gate(fake);
	pthread_join(thread, NULL);
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 2);
	REFUSED(dlock_release(h[1]), DLOCK_ELOST, "the client was closed");
	cr_assert_eq(d.n, 0, "no event comes of closing");
	cr_assert_null(fake_complaint(), "%s", fake_complaint());
	dlock_free(l[0]);
	dlock_free(l[1]);
}

static atomic_llong ahead;
static dlk_time (*real_clock)(void);

static dlk_time leaping_clock(void)
{
	return real_clock() + atomic_load(&ahead);
}

static int closing(dlock_client *c)
{
	int yes;

	pthread_mutex_lock(&c->mu);
	yes = c->closing;
	pthread_mutex_unlock(&c->mu);
	return yes;
}

static unsigned int calls(dlock_client *c)
{
	unsigned int n;

	pthread_mutex_lock(&c->mu);
	n = c->calls;
	pthread_mutex_unlock(&c->mu);
	return n;
}

static void has_time(struct fake_call call)
{
	cr_assert_gt(call.deadline, call.begin + 10000 * DLKI_MS,
		     "verb %d has %lld ms", (int)call.verb,
		     (long long)(call.deadline - call.begin) / DLKI_MS);
}

/* A callback takes longer than `close`, by a clock that leaps. */
static void close_after_a_long_callback(int release)
{
	dlock_options o = DLOCK_OPTIONS_INIT;
	struct late_release r = { .rc = DLOCK_ELOST };
	pthread_t closer, releaser;
	dlock_lock *s = NULL;
	dlock_client *c;
	dlock_hold *held;
	size_t told;

	real_clock = dlki_clock;
	dlki_clock = leaping_clock;
	o.on_event = linger;
	c = open_store("fake:?close=20s", &o);
	OK(dlock_semaphore_new(&s, c, "s", 2));
	held = take(s);
	r.hold = take(s);
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	EVENTUALLY(atomic_load(&inside) && stats(c).remnants == 0);
	told = fake_count(fake, FAKE_RELEASE);
	if (release) {
		cr_assert_eq(pthread_create(&releaser, NULL, late_release_main,
					    &r),
			     0);
		EVENTUALLY(calls(c) == 1);
	}
	cr_assert_eq(pthread_create(&closer, NULL, close_main, c), 0);
	EVENTUALLY(closing(c));
	atomic_store(&ahead, 50000 * DLKI_MS);
	atomic_store(&go, 1);
	pthread_join(closer, NULL);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), told + 1);
	has_time(fake_last(fake, FAKE_RELEASE));
	has_time(fake_last(fake, FAKE_CLOSE));
	if (release)
		pthread_join(releaser, NULL);
	else
		r.rc = dlock_release(r.hold);
	cr_assert_eq(r.rc, DLOCK_ELOST);
	cr_assert_eq(dlock_release(held), DLOCK_ELOST);
	dlock_free(s);
}

Test(close, leaves_the_store_its_time_after_a_callback)
{
	close_after_a_long_callback(0);
}

Test(close, leaves_the_store_its_time_after_a_release_that_waited_for_one)
{
	close_after_a_long_callback(1);
}

static void at_once(dlock_hold *hold, enum dlock_event event, const char *why,
		    void *arg)
{
	(void)hold;
	(void)event;
	(void)why;
	(void)arg;
	atomic_fetch_add(&inside, 1);
}

/* ... but no more time: what renewals and calls took before is the store's.
 * Whether the callback comes before there are no more is chance. */
Test(close, takes_no_longer_for_a_callback_that_takes_no_time)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	real_clock = dlki_clock;
	dlki_clock = leaping_clock;
	o.on_event = at_once;
	for (int i = 0; i < 20; i++) {
		dlock_client *c =
			open_store("fake:?ttl=60s&check=20ms&close=20s", &o);
		dlock_lock *l = mutex(c, "a");
		size_t renewals = fake_count(fake, FAKE_RENEW);
		struct fake_call call;
		pthread_t closer;
		dlock_hold *h;

		fake_script(fake, FAKE_RENEW,
			    (struct fake_step){ .gate = 1,
						.overrun = 1,
						.fault = FAKE_REFUSE });
		h = take(l);
		EVENTUALLY(fake_count(fake, FAKE_RENEW) == renewals + 1);
		cr_assert_eq(pthread_create(&closer, NULL, close_main, c), 0);
		EVENTUALLY(closing(c));
		atomic_store(&ahead, 15000 * DLKI_MS);
		fake_open_gate(fake);
		pthread_join(closer, NULL);
		atomic_store(&ahead, 0);
		call = fake_last(fake, FAKE_RELEASE);
		cr_assert_lt(call.deadline, call.begin + 6000 * DLKI_MS,
			     "%lld ms",
			     (long long)(call.deadline - call.begin) / DLKI_MS);
		cr_assert_eq(dlock_release(h), DLOCK_ELOST);
		dlock_free(l);
	}
	cr_assert_gt(atomic_load(&inside), 0, "there was no callback");
}
