/* SPDX-License-Identifier: Apache-2.0 */
/* Events: which, how often, in which order and from which thread. */
#include "core/fixture.h"

#include <dlock/async.h>

#include "core/client.h"

TestSuite(event, .init = fixture, .timeout = 120);

/* The results of the calls in call_all(). */
static struct {
	atomic_int calls;
	dlock_lock *rw;
	int rc[16];
} stage;

/* Loses the claim of `hold`, and returns inside the callback about the loss. */
static void lose_hold(void)
{
	lose_last();
	EVENTUALLY(atomic_load(&inside) == 1);
	cr_assert_eq(diary.page[0].hold, hold);
}

/* The callback about another hold delays the events of the case. */
static void given_lost_mutex(const char *uri)
{
	events_call(hold_up);
	given_hold(uri);
	lose_hold();
}

/* Makes `hold` a lost write side, and returns the read side. */
static dlock_hold *given_lost_sides(void)
{
	dlock_hold *r = NULL;

	events_call(hold_up);
	given_rwlock("fake:");
	hold = take(lock);
	OK(dlock_acquire_shared(lock, 0, &r));
	lose_hold();
	return r;
}

/* The callback delays the release of the hold, and no other permit. */
CASE(event, is_over_before_the_hold_is)
{
	struct releaser r;

	events_call(hold_up);
	given_semaphore("fake:", 2);
	hold = take(lock);
	lose_hold();
	releaser_start(&r, hold);
	EVENTUALLY(calls_under_way(client) == 1);
	OK(dlock_release(take(lock)));
	ALL_ALONG(50, !atomic_load(&r.done));
	atomic_store(&go, 1);
	cr_assert_eq(releaser_join(&r), DLOCK_ELOST);
}

static void *let_go_main(void *arg)
{
	EVENTUALLY(calls_under_way(client) == 1);
	atomic_store(&go, 1);
	return arg;
}

/* The claim stands on for the read side. */
CASE(event, of_the_write_side_is_over_before_that_is)
{
	dlock_hold *r = given_lost_sides();
	pthread_t thread;

	thread = thread_begin(let_go_main, NULL);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(atomic_load(&go), 1, "the callback still runs");
	pthread_join(thread, NULL);
	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
}

CASE(event, of_the_write_side_holds_up_no_release_of_the_read_side)
{
	dlock_hold *r = given_lost_sides();

	cr_assert_eq(dlock_release(r), DLOCK_ELOST);
	atomic_store(&go, 1);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(diary.n, 1);
}

/* A callback longer than `close` leaves the release time for the store. */
CASE(event, that_lasts_long_does_not_keep_the_store_from_being_told)
{
	enum { CLOSE_MS = 100 };
	struct releaser r;

	events_call(hold_up);
	given_semaphore("fake:?ttl=5s&check=50ms&close=100ms", 1);
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	EVENTUALLY(atomic_load(&inside) == 1);
	cr_assert_eq(diary.page[0].event, DLOCK_AT_RISK);
	releaser_start(&r, hold);
	EVENTUALLY(calls_under_way(client) == 1);
	nap_ms(2 * CLOSE_MS);
	atomic_store(&go, 1);
	OK(releaser_join(&r));
	cr_assert_gt(fake_last(fake, FAKE_RELEASE).deadline,
		     fake_last(fake, FAKE_RELEASE).begin);
}

/* The holder hears of a revoke and of the risk, which come while a callback
 * runs. */
CASE(event, of_a_wish_takes_back_no_trouble)
{
	dlock_hold *b;

	given_lost_mutex("fakewant:?ttl=60s&check=30ms");
	b = take(mutex(client, "b"));
	OK(dlock_revocable(b));
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	EVENTUALLY(stats(client).renew_failed >= 1);
	fake_want(fake, last_id());
	atomic_store(&go, 1);
	EVENTUALLY(atomic_load(&inside) == 3);
	cr_assert_eq(diary.page[1].event, DLOCK_AT_RISK);
	cr_assert_eq(diary.page[2].event, DLOCK_WANTED);
	cr_assert_eq(diary.page[2].hold, b);
	OK(dlock_release(b));
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

/* SAFE must not be the last event of a hold at risk. */
CASE(event, of_safety_is_taken_back_by_new_trouble)
{
	enum { CHECK_MS = 30 };

	events_call(hold_up);
	given_mutex("fake:?ttl=10s&check=30ms");
	fake_once(fake, FAKE_RENEW, FAKE_REFUSE);
	FAKE_SCRIPT(fake, FAKE_RENEW, 0);
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	EVENTUALLY(atomic_load(&inside) == 1);
	cr_assert_eq(diary.page[0].event, DLOCK_AT_RISK);
	EVENTUALLY(stats(client).renewed == 1 &&
		   stats(client).renew_failed >= 2);
	atomic_store(&go, 1);
	/* Four more renewals fail. */
	ALL_ALONG(4 * CHECK_MS, diary.safes == 0);
	fake_clear(fake);
	EVENTUALLY(diary.safes == 1);
	OK(dlock_release(hold));
}

/* Calls each function that a callback may call, and dlock_close(). */
ON_EVENT(call_all)
{
	struct dlock_stats st = { .size = sizeof(st) };
	dlock_lock *inner = NULL, *multi = NULL;
	dlock_hold *h = NULL;
	int *ok = stage.rc, n = 0;

	*ok++ = dlock_check(about) == DLOCK_ELOST;
	*ok++ = dlock_remaining_ms(about) == 0 && dlock_token(about) > 0;
	*ok++ = dlock_hold_fd(about) >= 0;
	*ok++ = dlock_mutex_new(&inner, client, "inner") == 0;
	*ok++ = dlock_acquire(inner, 1000, &h) == 0 && dlock_release(h) == 0;
	*ok++ = dlock_acquire_shared(stage.rw, 1000, &h) == 0 &&
		dlock_release(h) == 0;
	*ok++ = dlock_multi_new(&multi, &inner, 1) == 0 &&
		dlock_acquire(multi, 1000, &h) == 0 && dlock_release(h) == 0;
	dlock_cancel(inner);
	*ok++ = dlock_inspect(inner, count_participant, &n, 1000) == 0;
	*ok++ = dlock_list(client, count_entry, &n, 1000) == 0;
	*ok++ = dlock_break(inner, 1000) == 0;
	*ok++ = dlock_get_stats(client, &st) == 0;
	*ok++ = dlock_ttl_ms(client) == 0 && dlock_caps(client);
	*ok++ = dlock_release(about) == DLOCK_ELOST;
	dlock_lock_free(multi);
	dlock_lock_free(inner);
	dlock_close(client);
	atomic_store(&stage.calls, (int)(ok - stage.rc));
}

CASE(event, may_call_anything_and_close_does_nothing)
{
	events_call(call_all);
	given_semaphore("fake:", 1);
	stage.rw = rwlock(client, "rw");
	take(lock);
	lose_last();
	EVENTUALLY(atomic_load(&stage.calls) > 0);
	for (int i = 0; i < atomic_load(&stage.calls); i++)
		cr_assert(stage.rc[i], "call %d", i);
	cr_assert(diary_says(&diary, "dlock_close() in a callback"));
	/* The client is still open. */
	OK(dlock_release(take(stage.rw)));
}

CASE(event, says_why_in_whole_characters)
{
	char why[97];

	keep_diary();
	given_hold("fake:");
	/* The text has room for half of an a-umlaut. */
	memset(why, 'x', sizeof(why));
	memcpy(why + 94, "\xc3\xa4", sizeof("\xc3\xa4"));
	fake_lose_saying(fake, last_id(), why);
	EVENTUALLY(diary.losses == 1);
	why[94] = '\0';
	cr_assert_str_eq(diary.page[0].why, why);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

TestSuite(event_turned, .init = fixture, .timeout = 60);

static atomic_int turned;

static void *turn_over(void *arg)
{
	OK(dlock_events_by_process(client));
	atomic_store(&turned, 1);
	return arg;
}

/* Whether dlock_events_by_process() has begun. */
PEEK(int, is_turned, c->events.by_process)

CASE(event_turned, waits_for_a_running_callback_and_leaves_no_event_behind)
{
	dlock_hold *b;
	pthread_t thread;
	uint64_t first;

	events_call(hold_up);
	given_hold("fake:");
	first = last_id();
	b = take(mutex(client, "b"));
	lose_last();
	EVENTUALLY(atomic_load(&inside) == 1);
	fake_lose(fake, first);
	thread = thread_begin(turn_over, NULL);
	EVENTUALLY(is_turned(client));
	ALL_ALONG(30, !atomic_load(&turned));
	atomic_store(&go, 1);
	pthread_join(thread, NULL);
	ALL_ALONG(20, atomic_load(&inside) == 1);
	while (dlock_process(client, 1) > 0)
		continue;
	cr_assert_eq(told_of(DLOCK_LOST), 2);
	cr_assert_eq(diary.page[0].hold, b);
	cr_assert_eq(diary.page[1].hold, hold);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
}

/* The callback itself turns the events over, and does not wait for itself. */
ON_EVENT(turn_inside)
{
	OK(dlock_events_by_process(client));
	atomic_store(&turned, 1);
}

CASE(event_turned, may_be_asked_for_in_a_callback)
{
	events_call(turn_inside);
	given_hold("fake:");
	lose_last();
	EVENTUALLY(atomic_load(&turned) == 1);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

/* The hold is at risk, and safe again, while a callback runs. */
CASE(event, that_was_taken_back_before_it_was_told_is_not_told)
{
	dlock_hold *b;

	given_lost_mutex("fake:?ttl=5s&check=30ms");
	fake_once(fake, FAKE_RENEW, FAKE_REFUSE);
	b = take(mutex(client, "b"));
	EVENTUALLY(stats(client).renew_failed >= 1 &&
		   stats(client).renewed >= 1);
	atomic_store(&go, 1);
	lose_last();
	EVENTUALLY(diary.losses == 2);
	cr_assert_eq(diary.n, 2);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
}

CASE(event, is_not_told_of_a_hold_that_was_released)
{
	dlock_hold *b;

	given_lost_mutex("fake:");
	b = take(mutex(client, "b"));
	lose_last();
	cr_assert_eq(dlock_release(b), DLOCK_ELOST);
	atomic_store(&go, 1);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	ALL_ALONG(50, diary.n == 1);
}
