/* SPDX-License-Identifier: Apache-2.0 */
/* How long a hold is promised, and how it ends when the store is silent. */
#include "core/support.h"

#include <poll.h>

#define MARGIN_MS(ttl) (2 + (ttl) / 100)

static struct fake *fake;

static void set_up(void)
{
	stall_watch();
	OK(fake_register());
	fake = fake_store("");
}

TestSuite(lease, .init = set_up, .timeout = 60);

/* The end of a hold's promise, on the boot-time clock, to 1 ms. */
static dlk_time end_of(const dlock_hold *h)
{
	dlk_time began;
	int64_t left_ms;

	do {
		began = dlk_now();
		left_ms = dlock_remaining_ms(h);
	} while (dlk_now() > began + DLKI_MS);
	return began + left_ms * DLKI_MS;
}

Test(lease, ends_a_ttl_less_the_margin_after_the_request_was_sent)
{
	dlock_client *c = open_store("fake:?ttl=600ms", NULL);
	dlock_lock *l = mutex(c, "a");
	struct fake_call call;
	dlock_hold *h;
	dlk_time most, end;

	cr_assert_eq(dlock_ttl_ms(c), 600);
	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .delay_ms = 100 });
	h = take(l);
	call = fake_last(fake, FAKE_ATTEMPT);
	/* `begin` is taken after the core's stamp. */
	most = call.begin + (600 - MARGIN_MS(600)) * DLKI_MS;
	end = end_of(h);
	cr_assert_leq(end, most);
	cr_assert_gt(late(end), most - 50 * DLKI_MS);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, is_counted_for_what_the_store_really_gave)
{
	dlock_client *c = open_store("fake:?ttl=30s&agreed=900ms&margin=200ms",
				     NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	cr_assert_eq(dlock_ttl_ms(c), 900);
	h = take(l);
	cr_assert_leq(dlock_remaining_ms(h), 700);
	cr_assert_gt(dlock_remaining_ms(h) + stalled_ms(), 400);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, begins_when_the_store_says_that_it_began)
{
	dlock_client *c = open_store("fake:?ttl=3s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .since_ms = 800 });
	h = take(l);
	cr_assert_leq(dlock_remaining_ms(h), 2200 - MARGIN_MS(3000));
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

/* A grant that took more than half the lease is given back, and asked for
 * anew. */
Test(lease, with_less_than_half_left_is_given_back)
{
	dlock_client *c = open_store("fake:?ttl=2s", NULL);
	dlock_lock *l = mutex(c, "a");
	struct fake_call first, second;
	dlock_hold *h;

	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .delay_ms = 1050 });
	h = take(l);
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 2);
	first = fake_nth(fake, FAKE_ATTEMPT, 0);
	second = fake_nth(fake, FAKE_ATTEMPT, 1);
	cr_assert_str_neq(first.owner, second.owner);
	cr_assert_geq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_str_eq(fake_nth(fake, FAKE_RELEASE, 0).owner, first.owner);
	cr_assert_eq(stats(c).granted, 1);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, that_is_late_and_asked_for_once_is_unreachable)
{
	dlock_client *c = open_store("fake:?ttl=100ms&ask=300ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = NULL;

	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .delay_ms = 60 });
	REFUSED(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE, "half the lease");
	cr_assert_null(h);
	cr_assert_eq(stats(c).holds, 0);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

Test(lease, that_is_lost_before_it_is_told_is_not_held)
{
	dlock_client *c = open_store("fake:?ttl=3s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = NULL;

	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .lose = 1 });
	cr_assert_eq(dlock_acquire(l, 0, &h), DLOCK_EUNREACHABLE);
	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .lose = 1 });
	h = take(l);
	OK(dlock_check(h));
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, that_was_short_is_made_whole_at_a_third_of_it)
{
	dlock_client *c = open_store("fake:?ttl=6s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ .lease_ms = 1500 });
	h = take(l);
	EVENTUALLY(stats(c).renewed == 1);
	cr_assert_lt(
		fake_last(fake, FAKE_RENEW).begin,
		late(fake_last(fake, FAKE_ATTEMPT).begin + 1000 * DLKI_MS));
	cr_assert_geq(fake_last(fake, FAKE_RENEW).begin,
		      fake_last(fake, FAKE_ATTEMPT).begin + 500 * DLKI_MS);
	cr_assert_gt(dlock_remaining_ms(h) + stalled_ms(), 4000);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, is_renewed_each_third_of_it_and_outlives_its_ttl)
{
	dlock_client *c = open_store("fake:?ttl=1500ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);
	dlk_time before = 0;

	EVENTUALLY(stats(c).renewed >= 5);
	OK(dlock_check(h));
	for (size_t i = 0; i < 5; i++) {
		struct fake_call call = fake_nth(fake, FAKE_RENEW, i);

		if (before)
			cr_assert_gt(late(call.begin), before + 375 * DLKI_MS);
		before = call.begin;
	}
	cr_assert_eq(stats(c).lost, 0);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, is_not_moved_by_a_renewal_whose_reply_is_lost)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=900ms", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;
	dlk_time end, then;

	fake_script(fake, FAKE_RENEW, (struct fake_step){ .fault = FAKE_CUT });
	h = take(l);
	end = end_of(h);
	EVENTUALLY(stats(c).renew_failed == 1);
	then = end_of(h);
	if (stats(c).renewed == 0)
		cr_assert_leq(then, end + 2 * DLKI_MS);
	EVENTUALLY(stats(c).renewed >= 1);
	cr_assert_gt(end_of(h), end + 200 * DLKI_MS);
	EVENTUALLY(diary_count(&d, DLOCK_SAFE) == 1);
	cr_assert_eq(d.page[0].event, DLOCK_AT_RISK);
	cr_assert(strstr(d.page[0].why, "no answer"));
	cr_assert_eq(d.page[1].event, DLOCK_SAFE);
	OK(dlock_release(h));
	cr_assert_eq(diary_count(&d, DLOCK_LOST), 0);
	cr_assert(strstr(d.log, "renewal: fake: no answer"));
	dlock_free(l);
	close_store(c);
}

/* The renewal comes back only when the store has let go of the hold: it is the
 * timer that notices, and in time. */
Test(lease, is_lost_once_and_in_time_while_a_renewal_hangs)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=1500ms", &o);
	dlock_lock *l = mutex(c, "a");
	struct fake_call call;
	dlock_hold *h;
	dlk_time until;
	size_t renewals;
	int fd;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	h = take(l);
	fd = dlock_hold_fd(h);
	cr_assert_geq(fd, 0);
	cr_assert_eq(dlock_hold_fd(h), fd);
	call = fake_last(fake, FAKE_ATTEMPT);
	until = call.begin + 1500 * DLKI_MS;
	cr_assert_eq(poll(&(struct pollfd){ fd, POLLIN, 0 }, 1, 5000), 1);
	cr_assert_eq(dlock_check(h), DLOCK_ELOST);
	cr_assert_eq(dlock_remaining_ms(h), 0);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	cr_assert_eq(d.n, 2);
	cr_assert_eq(d.page[0].event, DLOCK_AT_RISK);
	cr_assert_eq(d.page[1].check, DLOCK_ELOST);
	/* These are the timer's words, and not the renewal's. */
	cr_assert(strstr(d.page[1].why, "before it could be renewed"), "%s",
		  d.page[1].why);
	/* The machine may have other things to do for a moment. */
	cr_assert_lt(d.page[1].at, late(until + 60 * DLKI_MS),
		     "told %lld us after the lease's end",
		     (long long)(d.page[1].at - until) / 1000);
	/* Final: nothing brings it back, and nothing more is said. */
	EVENTUALLY(fake_last(fake, FAKE_RENEW).end != 0);
	fake_clear(fake);
	renewals = fake_count(fake, FAKE_RENEW);
	EVENTUALLY(stats(c).remnants == 0);
	nap_ms(600);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), renewals);
	cr_assert_eq(dlock_check(h), DLOCK_ELOST);
	cr_assert_eq(d.n, 2);
	cr_assert_eq(stats(c).lost, 1);
	REFUSED(dlock_release(h), DLOCK_ELOST, "lease ran out");
	dlock_free(l);
	close_store(c);
}

static atomic_int wake_up;

static void sleepy(dlock_hold *hold, enum dlock_event event, const char *why,
		   void *arg)
{
	write_event(hold, event, why, arg);
	while (event == DLOCK_LOST && !atomic_load(&wake_up))
		nap_ms(1);
}

/* A callback that sleeps delays other callbacks, and nothing else. */
Test(lease, of_one_hold_ends_in_time_while_a_callback_about_another_sleeps)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c;
	dlock_lock *la, *lb;
	dlock_hold *a, *b;
	dlk_time until;

	o.on_event = sleepy;
	c = open_store("fake:?ttl=400ms", &o);
	la = mutex(c, "a");
	lb = mutex(c, "b");
	a = take(la);
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	b = take(lb);
	until = fake_last(fake, FAKE_ATTEMPT).begin + 400 * DLKI_MS;
	cr_assert_eq(poll(&(struct pollfd){ dlock_hold_fd(b), POLLIN, 0 }, 1,
			  5000),
		     1);
	cr_assert_lt(dlk_now(), late(until + 250 * DLKI_MS));
	cr_assert_eq(diary_count(&d, DLOCK_LOST), 1);
	atomic_store(&wake_up, 1);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 2);
	fake_clear(fake);
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

/* The store grants the renewal, but the answer travels past the end. */
Test(lease, is_not_revived_by_a_renewal_that_arrives_after_its_end)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=1s", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .gate = 1, .overrun = 1 });
	h = take(l);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), 1);
	cr_assert_eq(fake_last(fake, FAKE_RENEW).end, 0);
	fake_open_gate(fake);
	EVENTUALLY(fake_last(fake, FAKE_RENEW).end != 0);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(dlock_check(h), DLOCK_ELOST);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	cr_assert_eq(d.n, 1);
	cr_assert_eq(stats(c).lost, 1);
	cr_assert_eq(stats(c).renewed, 0);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), 1);
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}

Test(lease, that_the_store_has_not_is_lost_at_once)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=900ms", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);
	dlk_time told;

	fake_forget(fake);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	told = fake_last(fake, FAKE_RENEW).end;
	cr_assert_lt(d.page[0].at, late(told + 200 * DLKI_MS));
	cr_assert(strstr(d.page[0].why, "no longer has it"));
	REFUSED(dlock_release(h), DLOCK_ELOST, "no longer has it");
	dlock_free(l);
	close_store(c);
}

Test(lease, of_all_holds_ends_when_the_session_does)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:", &o);
	dlock_lock *la = mutex(c, "a"), *lb = mutex(c, "b");
	dlock_hold *a = take(la), *b = take(lb);

	cr_assert_eq(dlock_remaining_ms(a), -1);
	fake_lose_all(fake);
	cr_assert_eq(dlock_check(a), DLOCK_ELOST);
	cr_assert_eq(dlock_check(b), DLOCK_ELOST);
	fake_lose_all(fake);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 2);
	EVENTUALLY(stats(c).remnants == 0);
	REFUSED(dlock_release(a), DLOCK_ELOST, "says so of all");
	REFUSED(dlock_release(b), DLOCK_ELOST, "says so of all");
	cr_assert_eq(diary_count(&d, DLOCK_LOST), 2);
	dlock_free(la);
	dlock_free(lb);
	close_store(c);
}

Test(lease, that_merely_stands_is_not_extended)
{
	dlock_client *c = open_store("fake:?ttl=600ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;
	dlk_time end;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SAY,
					.verdict = DLK_STANDS,
					.times = FAKE_ALWAYS });
	h = take(l);
	end = end_of(h);
	EVENTUALLY(stats(c).renewed >= 1);
	cr_assert_leq(end_of(h), end + 2 * DLKI_MS);
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}

Test(lease, that_does_not_expire_is_looked_at_if_the_store_wants_it)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?check=20ms", &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE, .times = 3 });
	h = take(l);
	cr_assert_eq(dlock_remaining_ms(h), -1);
	EVENTUALLY(stats(c).renewed >= 2);
	cr_assert_geq(stats(c).renew_failed, 3);
	OK(dlock_check(h));
	cr_assert_eq(diary_count(&d, DLOCK_AT_RISK), 0,
		     "nothing runs out here");
	fake_forget(fake);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	dlock_free(l);
	close_store(c);
}

Test(lease, is_looked_at_more_often_than_each_third_if_the_store_wants_it)
{
	dlock_client *c = open_store("fake:?ttl=30s&check=20ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	EVENTUALLY(stats(c).renewed >= 3);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, may_be_cut_short_by_a_renewal)
{
	dlock_client *c = open_store("fake:?ttl=30s&check=50ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW, (struct fake_step){ .lease_ms = 600 });
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	h = take(l);
	cr_assert_gt(dlock_remaining_ms(h), 20000);
	EVENTUALLY(stats(c).renewed == 1);
	cr_assert_leq(dlock_remaining_ms(h), 600);
	EVENTUALLY(stats(c).lost == 1);
	REFUSED(dlock_release(h), DLOCK_ELOST, "lease ran out");
	fake_clear(fake);
	dlock_free(l);
	close_store(c);
}

/* Before the machine was started, even. */
Test(lease, that_began_long_ago_is_over)
{
	dlock_client *c = open_store("fake:?ttl=30s&check=50ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .since_ms = INT64_C(315360000000) });
	h = take(l);
	EVENTUALLY(stats(c).lost == 1);
	REFUSED(dlock_release(h), DLOCK_ELOST, "lease ran out");
	dlock_free(l);
	close_store(c);
}

/* A store without leases has nothing to extend. */
Test(lease, that_does_not_expire_is_not_made_to_by_a_renewal)
{
	dlock_client *c = open_store("fake:?check=20ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_SAY,
					.verdict = DLK_RENEWED,
					.times = FAKE_ALWAYS });
	h = take(l);
	EVENTUALLY(stats(c).renewed >= 2);
	cr_assert_eq(dlock_remaining_ms(h), -1);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(lease, is_renewed_in_time_whatever_the_store_wants)
{
	dlock_client *c = open_store("fake:?ttl=1500ms&check=10s&max_hold=1h",
				     NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	EVENTUALLY(stats(c).renewed >= 4);
	OK(dlock_check(h));
	/* It is not max_hold that ends it. */
	fake_script(fake, FAKE_RENEW,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	EVENTUALLY(stats(c).lost == 1);
	REFUSED(dlock_release(h), DLOCK_ELOST, "lease ran out");
	fake_clear(fake);
	dlock_free(l);
	close_store(c);
}

/* Nothing is left of it once the margin is taken off. */
Test(lease, of_no_length_is_not_held)
{
	dlock_client *c = open_store("fake:?ttl=10ms&agreed=2ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = NULL;

	cr_assert_eq(dlock_acquire(l, 50, &h), DLOCK_EUNREACHABLE);
	dlock_free(l);
	close_store(c);
}

Test(lease, is_not_renewed_beyond_max_hold)
{
	struct diary d = DIARY_INIT;
	dlock_options o = diary_options(&d);
	dlock_client *c = open_store("fake:?ttl=30s&check=50ms&max_hold=400ms",
				     &o);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);
	dlk_time began = fake_last(fake, FAKE_ATTEMPT).begin;

	cr_assert_leq(dlock_remaining_ms(h), 400);
	EVENTUALLY(diary_count(&d, DLOCK_LOST) == 1);
	cr_assert_geq(d.page[d.n - 1].at, began + 400 * DLKI_MS);
	cr_assert_gt(stats(c).renewed, 1);
	EVENTUALLY(fake_held(fake) == 0);
	REFUSED(dlock_release(h), DLOCK_ELOST, "max_hold");
	dlock_free(l);
	close_store(c);
}

Test(lease, without_expiry_ends_at_max_hold_too)
{
	dlock_client *c = open_store("fake:?max_hold=100ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l);

	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	EVENTUALLY(stats(c).lost == 1);
	REFUSED(dlock_release(h), DLOCK_ELOST, "max_hold");
	dlock_free(l);
	close_store(c);
}

/* A thread whose hold was lost must not be told that it has it again. */
Test(lease, that_was_lost_is_not_entered_again)
{
	dlock_client *c = open_store("fake:?ttl=30s", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = take(l), *again = NULL;

	OK(dlock_acquire(l, 0, &again));
	cr_assert_eq(again, h);
	fake_lose(fake, fake_last(fake, FAKE_ATTEMPT).id);
	REFUSED(dlock_acquire(l, 0, &again), DLOCK_ELOST, "release it first");
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	cr_assert_eq(dlock_release(h), DLOCK_ELOST);
	OK(dlock_acquire(l, 1000, &h));
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}
