/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper: many holds, and what one of them costs the others. */
#include "core/support.h"

#include <stdio.h>

static struct fake *fake;

static void set_up(void)
{
	stall_watch();
	OK(fake_register());
	fake = fake_store("");
}

TestSuite(keeper, .init = set_up, .timeout = 180);

/* All were asked for at a third of their lease, or the machine's stalls were
 * longer than to the half of it. */
static void none_late(dlock_client *c, int64_t ttl_ms)
{
	if (stalled_ms() < ttl_ms / 2 - ttl_ms / 3)
		cr_assert_eq(stats(c).renew_late, 0);
}

Test(keeper, renews_many_holds_in_few_calls)
{
	enum { N = 3000 };
	static dlock_hold *h[N];
	dlock_client *c = open_store("fake:?ttl=3s", NULL);
	dlock_lock *l = NULL;
	size_t calls, n = 0;

	OK(dlock_semaphore_new(&l, c, "s", N));
	/* The line is one; other waiters would make it quadratic. */
	for (int i = 0; i < N; i++) {
		char name[16];

		dlock_free(l);
		snprintf(name, sizeof(name), "s%d", i);
		OK(dlock_semaphore_new(&l, c, name, 1));
		h[i] = take(l);
	}
	EVENTUALLY(stats(c).renewed >= 2 * N);
	calls = fake_count(fake, FAKE_RENEW);
	for (size_t i = 0; i < calls; i++)
		n += fake_nth(fake, FAKE_RENEW, i).n;
	cr_assert_gt(n / calls, 10, "%zu renewals in %zu calls", n, calls);
	cr_assert_eq(stats(c).lost, 0);
	none_late(c, 3000);
	cr_assert_eq(stats(c).holds, N);
	for (int i = 0; i < N; i++)
		OK(dlock_release(h[i]));
	cr_assert_eq(stats(c).holds, 0);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

struct churner {
	pthread_t thread;
	dlock_client *client;
	int number;
	int failed;
};

static void *churn(void *arg)
{
	struct churner *ch = arg;
	dlock_lock *l = NULL;
	char name[16];

	snprintf(name, sizeof(name), "n%d", ch->number);
	if (dlock_mutex_new(&l, ch->client, name) < 0)
		return NULL;
	for (int i = 0; i < 25000; i++) {
		dlock_hold *h = NULL;

		if (dlock_acquire(l, 5000, &h) < 0) {
			ch->failed++;
			continue;
		}
		ch->failed += dlock_release(h) != DLOCK_OK;
	}
	dlock_free(l);
	return NULL;
}

/* 10^5 holds come and go while others are renewed all the time. */
Test(keeper, renews_nothing_that_is_over)
{
	dlock_client *c = open_store("fake:?ttl=10s&check=1ms", NULL);
	struct churner ch[4];
	dlock_lock *l = mutex(c, "stays");
	dlock_hold *h = take(l);
	size_t calls;

	for (int i = 0; i < 4; i++) {
		ch[i] = (struct churner){ .client = c, .number = i };
		cr_assert_eq(pthread_create(&ch[i].thread, NULL, churn, &ch[i]),
			     0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(ch[i].thread, NULL);
		cr_assert_eq(ch[i].failed, 0);
	}
	OK(dlock_release(h));
	calls = fake_count(fake, FAKE_RENEW);
	cr_assert_gt(calls, 20);
	nap_ms(30);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), calls);
	cr_assert_eq(stats(c).holds, 0);
	cr_assert_eq(stats(c).remnants, 0);
	cr_assert_eq(stats(c).lost, 0);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

Test(keeper, of_one_client_is_not_delayed_by_the_dead_store_of_another)
{
	struct fake *dead = fake_store("dead");
	dlock_client *a = open_store("fake://dead?ttl=600ms", NULL);
	dlock_client *b = open_store("fake://alive?ttl=1200ms", NULL);
	dlock_lock *la = mutex(a, "a"), *lb = mutex(b, "a");
	dlock_hold *ha, *hb;

	for (int verb = FAKE_ATTEMPT; verb < FAKE_VERBS; verb++)
		fake_script(dead, (enum fake_verb)verb,
			    (struct fake_step){ .fault = FAKE_SILENT,
						.times = FAKE_ALWAYS });
	fake_clear(dead);
	ha = take(la);
	fake_script(dead, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	hb = take(lb);
	EVENTUALLY(dlock_check(ha) == DLOCK_ELOST);
	EVENTUALLY(stats(b).renewed >= 5);
	OK(dlock_check(hb));
	none_late(b, 1200);
	cr_assert_eq(dlock_release(ha), DLOCK_ELOST);
	OK(dlock_release(hb));
	fake_clear(dead);
	dlock_free(la);
	dlock_free(lb);
	close_store(a);
	close_store(b);
}

/* A clean-up that hangs must not cost a hold that comes meanwhile its lease. */
Test(keeper, renews_in_time_while_a_cleanup_hangs)
{
	dlock_client *c = open_store("fake:?ttl=1200ms&close=2s", NULL);
	dlock_lock *la = mutex(c, "a"), *lb = mutex(c, "b");
	dlock_hold *h = NULL, *b;
	size_t tries;

	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE });
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT, .times = 3 });
	h = take(la);
	tries = fake_count(fake, FAKE_RELEASE);
	cr_assert_eq(dlock_release(h), DLOCK_EUNREACHABLE);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) >= tries + 2);
	b = take(lb);
	EVENTUALLY(stats(c).renewed + stats(c).lost >= 4);
	OK(dlock_check(b));
	cr_assert_eq(stats(c).lost, 0);
	OK(dlock_release(b));
	EVENTUALLY(stats(c).remnants == 0);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

/* A hold that nears the end that max_hold sets must not leave the others of its
 * batch without time. */
Test(keeper, gives_each_batch_its_time)
{
	dlock_client *c = open_store("fake:?ttl=30s&check=200ms&"
				     "max_hold=1050ms",
				     NULL);
	dlock_lock *la = mutex(c, "a"), *lb = mutex(c, "b");
	dlock_hold *a = take(la), *b;
	size_t n;

	nap_ms(500);
	b = take(lb);
	EVENTUALLY(dlock_check(a) == DLOCK_ELOST);
	n = fake_count(fake, FAKE_RENEW);
	cr_assert_geq(n, 3);
	for (size_t i = 0; i < n; i++) {
		struct fake_call call = fake_nth(fake, FAKE_RENEW, i);

		cr_assert_geq(late(call.deadline), call.begin + 100 * DLKI_MS,
			      "call %zu of %zu has %lld us", i, n,
			      (long long)(call.deadline - call.begin) / 1000);
	}
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	OK(dlock_release(b));
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

static atomic_llong ahead;
static dlk_time (*real_clock)(void);

static dlk_time leaping_clock(void)
{
	return real_clock() + atomic_load(&ahead);
}

static dlock_client *open_leaping(const char *uri)
{
	real_clock = dlki_clock;
	dlki_clock = leaping_clock;
	return open_store(uri, NULL);
}

/* The answer is there at once, but the machine slept before it was read. */
Test(keeper, believes_no_renewal_that_was_read_after_the_end)
{
	dlock_client *c = open_leaping("fake:?ttl=3s&check=50ms");
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .gate = 1,
					.overrun = 1,
					.fault = FAKE_SAY,
					.verdict = DLK_RENEWED });
	h = take(l);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	atomic_store(&ahead, 100000 * DLKI_MS);
	fake_open_gate(fake);
	EVENTUALLY(stats(c).lost == 1);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), 1);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}

Test(keeper, plans_nothing_for_what_is_over_but_not_yet_known_to_be)
{
	dlock_client *c = open_leaping("fake:?ttl=3s&check=50ms");
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){
			    .gate = 1, .overrun = 1, .fault = FAKE_REFUSE });
	h = take(l);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	atomic_store(&ahead, 100000 * DLKI_MS);
	cr_assert_eq(dlock_check(h), DLOCK_ELOST);
	fake_open_gate(fake);
	EVENTUALLY(fake_last(fake, FAKE_RENEW).end != 0);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), 1);
	dlock_free(l);
	close_store(c);
}

/* The machine slept past the end of the lease, and the keeper is the first to
 * wake up: it must not renew what is over, nor hand over a senseless
 * deadline. */
Test(keeper, renews_nothing_whose_end_has_come_before_the_timer_saw_it)
{
	dlock_client *c;
	dlock_lock *la, *lb;
	dlock_hold *a, *b;
	size_t n;

	c = open_leaping("fake:?ttl=3s&close=100ms");
	la = mutex(c, "a");
	lb = mutex(c, "b");
	a = take(la);
	/* The keeper is kept busy with a clean-up while the clock leaps. */
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE });
	fake_script(fake, FAKE_RELEASE, (struct fake_step){ .gate = 1 });
	b = take(lb);
	cr_assert_eq(dlock_release(b), DLOCK_EUNREACHABLE);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 2);
	n = fake_count(fake, FAKE_RENEW);
	atomic_store(&ahead, 100000 * DLKI_MS);
	cr_assert_eq(dlock_check(a), DLOCK_ELOST);
	fake_open_gate(fake);
	EVENTUALLY(stats(c).lost == 1);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), n);
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

/* Renewals fail until max_hold ends the hold, and no lease would have run out
 * before: they are asked for in peace, and nothing is at risk. */
static void ends_without_risk(const char *uri)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store(uri, &o);
	dlock_lock *l = mutex(c, "a");
	size_t from = fake_count(fake, FAKE_RENEW), n;
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	h = take(l);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	cr_assert_eq(d.n, 1, "there was another event");
	REFUSED(dlock_release(h), DLOCK_ELOST, "max_hold");
	n = fake_count(fake, FAKE_RENEW);
	cr_assert_gt(n, from + 1);
	for (size_t i = from + 1; i < n; i++) {
		dlk_time pause = fake_nth(fake, FAKE_RENEW, i).begin -
				 fake_nth(fake, FAKE_RENEW, i - 1).begin;

		/* A quarter of the interval, less what may join a round. */
		cr_assert_geq(pause, 39 * DLKI_MS, "renewal %zu after %lld us",
			      i, (long long)pause / 1000);
	}
	fake_clear(fake);
	dlock_free(l);
	close_store(c);
}

Test(keeper, sees_no_risk_where_max_hold_ends_a_hold_first)
{
	ends_without_risk("fake:?check=200ms&max_hold=700ms");
	ends_without_risk("fake:?ttl=60s&check=200ms&max_hold=700ms");
}

Test(keeper, sees_the_risk_where_the_lease_ends_first)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=6s&check=50ms&max_hold=60s",
				     &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	h = take(l);
	EVENTUALLY(diary_count(&d, DLOCK_AT_RISK) == 1);
	fake_clear(fake);
	EVENTUALLY(diary_count(&d, DLOCK_SAFE) == 1);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

/* max_hold leaves less than half a lease of every hold here. */
Test(keeper, is_late_by_the_lease_and_not_by_max_hold)
{
	dlock_client *c = open_store("fake:?ttl=30s&check=50ms&max_hold=400ms",
				     NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	cr_assert_gt(stats(c).renewed, 0);
	none_late(c, 30000);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}
