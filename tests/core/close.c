/* SPDX-License-Identifier: Apache-2.0 */
/* Closing with calls under way, with holds and with clean-ups. */
#include "core/fixture.h"

#include "core/client.h"
#include "support/outcome.h"

TestSuite(close, .init = timed_fixture, .timeout = 60);

/* The store answers no verb, and `close` bounds the whole close. */
CASE(close, keeps_its_time_with_a_silent_store)
{
	struct taker t = { 0 };
	dlock_lock *other;
	dlock_hold *a, *b;

	given_mutex("fake:?ttl=900ms&close=300ms");
	other = mutex(client, "b");
	a = take(lock);
	b = take(other);
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	fake_always(fake, FAKE_RELEASE, FAKE_SILENT);
	fake_always(fake, FAKE_RENEW, FAKE_SILENT);
	fake_once(fake, FAKE_CLOSE, FAKE_SILENT);
	cr_assert_eq(dlock_release(b), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_acquire(other, 0, &hold), DLOCK_EUNREACHABLE);
	taker_start(&t, mutex(client, "c"), -1);
	EVENTUALLY(fake_last(fake, FAKE_ATTEMPT).end == 0);
	close_client_within(300 + 200);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
}

CASE(close, asks_for_nothing_to_be_released_where_nothing_is_left)
{
	given_mutex("fakeall:?ttl=60s");
	OK(dlock_release(take(lock)));
	close_client();
	cr_assert_eq(fake_count(fake, FAKE_RELEASE_ALL), 0);
}

static dlock_client *_Atomic ending; /* set before `go` */

PEEK(int, closing, c->closing)

/* Stays in the callback until the client closes, which waits for callbacks. */
ON_EVENT(linger)
{
	dlock_client *c;

	hold_up(about, event, why, arg);
	c = atomic_exchange(&ending, NULL);
	if (c)
		EVENTUALLY(closing(c));
}

/* Closes the client, and with the close ends the callback. */
static void close_with_callback(void)
{
	atomic_store(&ending, client);
	atomic_store(&go, 1);
	close_client_within(3000);
	cr_assert_eq(fake_held(fake), 0);
}

/* A hold at risk, and the callback about the risk under way. */
static void given_callback(void)
{
	events_call(linger);
	given_semaphore("fake:?ttl=60s&check=20ms", 2);
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	EVENTUALLY(atomic_load(&inside));
}

CASE(close, goes_with_a_started_release_that_waits_for_a_callback)
{
	static struct outcome o;

	given_callback();
	OK(dlock_release_start(hold, outcome_note, &o));
	EVENTUALLY(calls_under_way(client) == 1);
	close_with_callback();
	cr_assert_eq(o.calls, 1);
}

static void has_time(struct fake_call call)
{
	cr_assert_gt(call.deadline, call.begin + 10000 * DLK_MS,
		     "verb %d has %lld ms", (int)call.verb,
		     (long long)(call.deadline - call.begin) / DLK_MS);
}

/* A callback takes longer than `close`, by a clock that leaps. */
static void close_after_a_long_callback(int release)
{
	dlock_client *c;
	dlock_hold *other;
	struct releaser r;
	pthread_t closer;
	size_t told;

	clock_leaps(0);
	events_call(linger);
	given_semaphore("fake:?close=20s", 2);
	c = client;
	other = take(lock);
	hold = take(lock);
	lose_last();
	EVENTUALLY(atomic_load(&inside) && stats(c).pending_cleanups == 0);
	told = fake_count(fake, FAKE_RELEASE);
	if (release) {
		releaser_start(&r, hold);
		EVENTUALLY(calls_under_way(c) == 1);
	}
	closer = client_closes();
	EVENTUALLY(closing(c));
	clock_leaps(50000);
	atomic_store(&ending, c);
	atomic_store(&go, 1);
	pthread_join(closer, NULL);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), told + 1);
	has_time(fake_last(fake, FAKE_RELEASE));
	has_time(fake_last(fake, FAKE_CLOSE));
	cr_assert_eq(release ? releaser_join(&r) : dlock_release(hold),
		     DLOCK_ELOST);
	cr_assert_eq(dlock_release(other), DLOCK_ELOST);
}

CASE(close, leaves_the_store_its_time_after_a_callback)
{
	close_after_a_long_callback(0);
}

CASE(close, leaves_the_store_its_time_after_a_release_that_waited_for_one)
{
	close_after_a_long_callback(1);
}
