/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: what is asked, when it is asked again, and what it answers. */
#include "core/support.h"

#define SLACK_MS 250 /* for a machine that has other things to do */

static struct fake *fake;

static void set_up(void)
{
	stall_watch();
	OK(fake_register());
	fake = fake_store("");
}

TestSuite(acquire, .init = set_up, .timeout = 60);

/* The call answers `code` between least_ms and most_ms from now. */
static void answers(dlock_lock *l, int64_t timeout_ms, int code,
		    int64_t least_ms, int64_t most_ms)
{
	dlock_hold *h = (dlock_hold *)&most_ms;
	dlk_time began = dlk_now();
	int rc = dlock_acquire(l, timeout_ms, &h);
	int64_t took_ms = (dlk_now() - began) / DLKI_MS;
	int64_t stall_ms = stalled_ms();

	cr_assert_eq(rc, code, "%s: %s", dlock_errname(rc), dlock_errmsg());
	cr_assert_geq(took_ms, least_ms, "%lld ms", (long long)took_ms);
	cr_assert_leq(took_ms, most_ms + stall_ms, "%lld ms, %lld of a stall",
		      (long long)took_ms, (long long)stall_ms);
	cr_assert_eq((void *)h, (void *)&most_ms, "out was touched");
}

Test(acquire, tells_busy_from_unreachable)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	dlock_lock *l = mutex(c, "a");

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	answers(l, 0, DLOCK_EBUSY, 0, SLACK_MS);
	answers(l, 100, DLOCK_EBUSY, 100, 100 + SLACK_MS);
	cr_assert_eq(fake_waiting(fake), 0);
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	answers(l, 0, DLOCK_EUNREACHABLE, 0, SLACK_MS);
	answers(l, 100, DLOCK_EUNREACHABLE, 100, 100 + SLACK_MS);
	fake_clear(fake);
	cr_assert_eq(stats(c).busy, 2);
	cr_assert_eq(stats(c).asked, 4);
	cr_assert_eq(stats(c).waiters, 0);
	dlock_free(l);
	close_store(c);
}

/* It was busy, and then nobody answered any more. */
Test(acquire, says_what_the_last_answer_was)
{
	dlock_client *c = open_store("fake:?ttl=5s", NULL);
	dlock_lock *l = mutex(c, "a");

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	fake_script(fake, FAKE_ATTEMPT, (struct fake_step){ 0 });
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	answers(l, 60, DLOCK_EUNREACHABLE, 60, 60 + SLACK_MS);
	fake_clear(fake);
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_REFUSE });
	answers(l, 150, DLOCK_EBUSY, 150, 150 + SLACK_MS);
	dlock_free(l);
	close_store(c);
}

Test(acquire, keeps_its_deadline_with_a_silent_store)
{
	dlock_client *c = open_store("fake:?ttl=300ms&ask=50ms&close=300ms",
				     NULL);
	dlock_lock *l = mutex(c, "a");

	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	answers(l, 0, DLOCK_EUNREACHABLE, 50, 50 + SLACK_MS);
	answers(l, 100, DLOCK_EUNREACHABLE, 100, 150 + SLACK_MS);
	answers(l, 500, DLOCK_EUNREACHABLE, 500, 550 + SLACK_MS);
	for (size_t i = 0; i < fake_count(fake, FAKE_ATTEMPT); i++) {
		struct fake_call call = fake_nth(fake, FAKE_ATTEMPT, i);

		cr_assert_leq(call.deadline - call.begin, 300 * DLKI_MS);
	}
	fake_clear(fake);
	dlock_free(l);
	close_store(c);
}

Test(acquire, asks_once_more_at_the_deadline)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h;

	fake_set_wakes(fake, FAKE_WAKE_NOT);
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_BUSY });
	/* Nothing wakes it, and yet it was free at the deadline. */
	OK(dlock_acquire(l, 80, &h));
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 2);
	cr_assert_geq(fake_last(fake, FAKE_ATTEMPT).begin,
		      fake_nth(fake, FAKE_ATTEMPT, 0).begin + 70 * DLKI_MS);
	OK(dlock_release(h));
	dlock_free(l);
	close_store(c);
}

Test(acquire, asks_again_as_the_same_owner_when_a_reply_is_lost)
{
	dlock_client *c = open_store("fake:?ttl=600ms", NULL);
	dlock_lock *l = mutex(c, "a");
	struct fake_call first, second;
	dlock_hold *h;

	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_CUT });
	h = take(l);
	first = fake_nth(fake, FAKE_ATTEMPT, 0);
	second = fake_nth(fake, FAKE_ATTEMPT, 1);
	cr_assert_str_eq(first.owner, second.owner);
	cr_assert_eq(first.id, second.id);
	cr_assert_eq(fake_held(fake), 1);
	cr_assert_eq(stats(c).granted, 1);
	OK(dlock_release(h));
	/* The first request might still be on its way: see to it. */
	cr_assert_eq(stats(c).remnants, 1);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_geq(fake_last(fake, FAKE_RELEASE).begin,
		      second.begin + 550 * DLKI_MS);
	dlock_free(l);
	close_store(c);
}

/* The store executes the request 200 ms after the caller has given up. */
Test(acquire, leaves_no_ghost_when_a_request_arrives_late)
{
	dlock_client *c = open_store("fake:?ttl=500ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlk_time gave_up;

	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_LATE, .late_ms = 200 });
	/* It is there until it was seen. */
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_REFUSE,
					.times = FAKE_ALWAYS });
	answers(l, 0, DLOCK_EUNREACHABLE, 0, SLACK_MS);
	gave_up = dlk_now();
	cr_assert_eq(stats(c).remnants, 1);
	EVENTUALLY(fake_held(fake) == 1);
	fake_clear(fake);
	EVENTUALLY(stats(c).remnants == 0);
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_gt(fake_count(fake, FAKE_RELEASE), 3);
	cr_assert_geq(dlk_now(), gave_up + 400 * DLKI_MS);
	cr_assert_leq(dlk_now(), late(gave_up + 900 * DLKI_MS));
	dlock_free(l);
	close_store(c);
}

Test(acquire, ends_at_once_with_what_cannot_be_helped)
{
	static const int codes[] = { DLOCK_EDENIED, DLOCK_EINVAL,
				     DLOCK_ENOTSUP, DLOCK_EEXHAUSTED,
				     DLOCK_EPROTO,  DLOCK_ESYSTEM,
				     DLOCK_ENOMEM };
	dlock_client *c = open_store("fake:?ttl=100ms", NULL);
	dlock_lock *l = mutex(c, "a");

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		fake_script(fake, FAKE_ATTEMPT,
			    (struct fake_step){ .fault = FAKE_CODE,
						.code = codes[i] });
		answers(l, -1, codes[i], 0, SLACK_MS);
		cr_assert_str_eq(dlock_errmsg(), "fake: scripted");
	}
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_CODE });
	answers(l, -1, DLOCK_EPROTO, 0, SLACK_MS);
	cr_assert_str_eq(dlock_errmsg(), "fake: failed without a reason");
	EVENTUALLY(stats(c).remnants == 0);
	dlock_free(l);
	close_store(c);
}

Test(acquire, is_woken_by_a_release)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { 0 };
	dlock_hold *h = take(l);

	taker_start(&t, l, 10000);
	EVENTUALLY(stats(c).waiters == 1);
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 2);
	OK(dlock_release(h));
	OK(taker_join(&t));
	cr_assert_eq(stats(c).wakes, 1);
	cr_assert_eq(stats(c).polls, 0);
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 3);
	dlock_free(l);
	close_store(c);
}

Test(acquire, hears_a_wake_that_comes_while_it_asks)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { 0 };

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	/* Answers BUSY from before, 200 ms after the wake was sent. */
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_BUSY, .delay_ms = 200 });
	taker_start(&t, l, 10000);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 1);
	fake_vacate(fake, DLK_MUTEX, "a");
	fake_wake(fake, fake_last(fake, FAKE_ATTEMPT).id);
	fake_wake(fake, fake_last(fake, FAKE_ATTEMPT).id);
	OK(taker_join(&t));
	cr_assert_lt(t.done_at,
		     fake_nth(fake, FAKE_ATTEMPT, 0).begin + 2000 * DLKI_MS);
	cr_assert_eq(stats(c).wakes, 1);
	dlock_free(l);
	close_store(c);
}

Test(acquire, looks_again_when_a_wake_is_lost)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { 0 };

	fake_set_wakes(fake, FAKE_WAKE_NOT);
	fake_occupy(fake, DLK_MUTEX, "a", 0);
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .look_ms = 100, .times = FAKE_ALWAYS });
	taker_start(&t, l, 10000);
	EVENTUALLY(stats(c).waiters == 1);
	fake_vacate(fake, DLK_MUTEX, "a");
	OK(taker_join(&t));
	cr_assert_eq(stats(c).wakes, 0);
	cr_assert_geq(stats(c).polls, 1);
	dlock_free(l);
	close_store(c);
}

/* A time to look again that has passed is no reason to ask without end. */
Test(acquire, does_not_spin_on_a_time_that_has_passed)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = NULL;

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_BUSY,
					.look_ms = -1000,
					.times = FAKE_ALWAYS });
	cr_assert_eq(dlock_acquire(l, 50, &h), DLOCK_EBUSY);
	cr_assert_leq(fake_count(fake, FAKE_ATTEMPT), 120);
	fake_clear(fake);
	dlock_free(l);
	close_store(c);
}

Test(acquire, bears_wakes_that_are_doubled_spurious_and_for_the_dead)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { 0 };
	dlock_hold *h = take(l);
	uint64_t dead, waiting;

	dead = fake_last(fake, FAKE_ATTEMPT).id;
	OK(dlock_release(h));
	h = take(l);
	fake_wake(fake, dead);
	fake_lose(fake, dead);
	fake_wake(fake, fake_last(fake, FAKE_ATTEMPT).id);
	fake_wake(fake, UINT64_MAX);
	fake_wake(fake, 77);
	OK(dlock_check(h));
	taker_start(&t, l, 10000);
	EVENTUALLY(stats(c).waiters == 1);
	waiting = fake_last(fake, FAKE_ATTEMPT).id;
	for (int i = 0; i < 100; i++)
		fake_wake(fake, waiting);
	cr_assert_eq(atomic_load(&t.done), 0);
	fake_set_wakes(fake, FAKE_WAKE_TWICE);
	OK(dlock_release(h));
	OK(taker_join(&t));
	cr_assert_eq(stats(c).granted, 3);
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

Test(acquire, does_not_ask_more_often_than_the_backoff_lets_it)
{
	dlock_client *c = open_store("fake:?wake=off&retry_min=20ms&"
				     "retry_max=60ms",
				     NULL);
	dlock_lock *l = mutex(c, "a");
	int64_t least = INT64_MAX, most = 0;
	dlock_hold *h = NULL;
	size_t n;

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	cr_assert_eq(dlock_acquire(l, 1500, &h), DLOCK_EBUSY);
	n = fake_count(fake, FAKE_ATTEMPT);
	cr_assert_geq(n, 10);
	cr_assert_leq(n, 76);
	/* Not the last, which comes at the deadline. */
	for (size_t i = 1; i + 1 < n; i++) {
		int64_t gap = fake_nth(fake, FAKE_ATTEMPT, i).begin -
			      fake_nth(fake, FAKE_ATTEMPT, i - 1).end;

		least = gap < least ? gap : least;
		most = gap > most ? gap : most;
	}
	cr_assert_geq(least, 19 * DLKI_MS);
	cr_assert_gt(most, least + 5 * DLKI_MS, "no jitter");
	/* Neither the first nor, unless it was late, the last. */
	cr_assert_geq(stats(c).polls, n - 2);
	cr_assert_leq(stats(c).polls, n - 1);
	dlock_free(l);
	close_store(c);
}

Test(acquire, polls_a_store_that_cannot_wake)
{
	dlock_client *c = open_store("fake:?wake=off&retry_min=5ms&"
				     "retry_max=20ms",
				     NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { 0 };

	cr_assert_eq(dlock_caps(c) & DLOCK_CAP_WAKE, 0);
	fake_occupy(fake, DLK_MUTEX, "a", 0);
	taker_start(&t, l, -1);
	EVENTUALLY(stats(c).polls >= 3);
	fake_vacate(fake, DLK_MUTEX, "a");
	OK(taker_join(&t));
	dlock_free(l);
	close_store(c);
}

Test(acquire, that_is_cancelled_ends_at_once_and_leaves_the_line)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a"), *other = mutex(c, "a");
	struct taker t[3] = { { 0 } }, stays = { 0 };
	dlk_time began;

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	taker_start(&stays, other, -1);
	for (int i = 0; i < 3; i++)
		taker_start(&t[i], l, -1);
	EVENTUALLY(stats(c).waiters == 4);
	began = dlk_now();
	dlock_cancel(l);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(taker_join(&t[i]), DLOCK_ECANCELED);
	cr_assert_lt(dlk_now(), late(began + SLACK_MS * DLKI_MS));
	cr_assert_eq(fake_waiting(fake), 1);
	cr_assert_eq(stats(c).waiters, 1);
	fake_vacate(fake, DLK_MUTEX, "a");
	OK(taker_join(&stays));
	/* A cancel that met nobody has no later effect. */
	dlock_cancel(l);
	OK(dlock_release(take(l)));
	dlock_free(l);
	dlock_free(other);
	close_store(c);
}

Test(acquire, that_is_cancelled_while_the_store_is_silent_ends_soon)
{
	dlock_client *c = open_store("fake:?close=200ms", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { 0 };
	dlk_time began;

	fake_script(fake, FAKE_ATTEMPT,
		    (struct fake_step){ .fault = FAKE_SILENT,
					.times = FAKE_ALWAYS });
	fake_script(fake, FAKE_RELEASE,
		    (struct fake_step){ .fault = FAKE_SILENT, .times = 2 });
	taker_start(&t, l, -1);
	EVENTUALLY(fake_count(fake, FAKE_ATTEMPT) == 1);
	began = dlk_now();
	dlock_cancel(l);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_lt(dlk_now(), late(began + (400 + SLACK_MS) * DLKI_MS));
	EVENTUALLY(stats(c).remnants == 0);
	dlock_free(l);
	close_store(c);
}

/* Nothing is held at a store whose margin eats every lease, and nobody is
 * asked without a pause. */
Test(acquire, does_not_spin_where_no_lease_is_worth_having)
{
	dlock_client *c = open_store("fake:?ttl=100ms&margin=60ms", NULL);
	dlock_lock *l = mutex(c, "a");
	dlock_hold *h = NULL;

	cr_assert_eq(dlock_acquire(l, 200, &h), DLOCK_EUNREACHABLE);
	cr_assert_leq(stats(c).attempts, 50, "%d attempts in 200 ms",
		      (int)stats(c).attempts);
	dlock_free(l);
	close_store(c);
}

Test(acquire, by_a_reader_of_the_write_side_is_a_deadlock)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = NULL;
	dlock_hold *r = NULL, *w = NULL, *again = NULL;

	OK(dlock_rwlock_new(&l, c, "a"));
	OK(dlock_acquire_shared(l, 0, &r));
	OK(dlock_acquire_shared(l, 0, &again));
	cr_assert_eq(again, r);
	REFUSED(dlock_acquire(l, 1000, &w), DLOCK_EDEADLK, "rwlock 'a'");
	OK(dlock_release(r));
	OK(dlock_release(r));
	OK(dlock_acquire(l, 0, &w));
	OK(dlock_acquire_shared(l, 0, &r));
	cr_assert_neq(r, w);
	cr_assert_eq(dlock_token(r), dlock_token(w));
	OK(dlock_release(w));
	cr_assert_eq(fake_count(fake, FAKE_DOWNGRADE), 1);
	REFUSED(dlock_acquire(l, 0, &w), DLOCK_EDEADLK, "read side");
	OK(dlock_acquire_shared(l, 0, &again));
	cr_assert_eq(again, r);
	OK(dlock_release(r));
	OK(dlock_release(r));
	cr_assert_eq(fake_held(fake), 0);
	dlock_free(l);
	close_store(c);
}

/* Neither the caller's own deadline nor a cancel is a backoff that is up. */
Test(acquire, that_is_over_is_no_poll)
{
	dlock_client *c = open_store("fake:", NULL);
	dlock_lock *l = mutex(c, "a");
	struct taker t = { 0 };
	dlock_hold *h = NULL;

	fake_occupy(fake, DLK_MUTEX, "a", 0);
	cr_assert_eq(dlock_acquire(l, 20, &h), DLOCK_EBUSY);
	cr_assert_eq(stats(c).attempts, 2);
	cr_assert_eq(stats(c).polls, 0);
	taker_start(&t, l, -1);
	EVENTUALLY(stats(c).waiters == 1);
	dlock_cancel(l);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_eq(stats(c).polls, 0);
	dlock_free(l);
	close_store(c);
}
