/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the program renew the holds of a client without threads, whatever
 * else they wait for. */
#include "core/calls.h"

#include <dlock/async.h>
#include <pthread.h>

#include "core/fixture.h"

TestSuite(wait_alone, .init = timed_fixture, .timeout = 60);

static void stay(const struct dlock_result *r, void *arg)
{
	(void)arg;
	OK(dlock_release(r->hold));
	atomic_store(&inside, 1);
	while (!atomic_load(&go))
		nap_ms(1);
}

static void *wait_once(void *unused)
{
	OK(dlock_wait(client, FOREVER));
	return unused;
}

static pthread_t waiter(void)
{
	pthread_t thread;

	thread = thread_begin(wait_once, NULL);
	return thread;
}

CASE(wait_alone, renews_while_another_thread_is_in_a_callback)
{
	pthread_t stays, waits;

	options.no_threads = 1;
	given_client("fake:?ttl=3s");
	hold = take(unbound(client, "a"));
	OK(dlock_acquire_start(unbound(client, "b"), 0, stay, NULL, NULL));
	stays = waiter();
	EVENTUALLY(atomic_load(&inside));
	waits = waiter();
	EVENTUALLY(stats(client).renewed >= 2);
	OK(dlock_check(hold));
	atomic_store(&go, 1);
	pthread_join(stays, NULL);
	OK(dlock_nudge(client));
	pthread_join(waits, NULL);
	OK(dlock_release(hold));
}

static void *release_lost(void *unused)
{
	cr_expect_eq(dlock_release(hold), DLOCK_ELOST);
	return unused;
}

CASE(wait_alone, renews_in_a_release_behind_an_event)
{
	pthread_t stays, releases;
	dlock_hold *other;

	events_call(hold_up);
	options.no_threads = 1;
	given_client("fake:?ttl=3s");
	other = take(unbound(client, "a"));
	hold = take(unbound(client, "b"));
	lose_last();
	stays = waiter();
	EVENTUALLY(atomic_load(&inside));
	releases = thread_begin(release_lost, NULL);
	EVENTUALLY(stats(client).renewed >= 2);
	OK(dlock_check(other));
	atomic_store(&go, 1);
	pthread_join(stays, NULL);
	pthread_join(releases, NULL);
	OK(dlock_release(other));
}

/* ---- The store is silent to other requests ------------------------------- */

static struct outcome o;

static void given_hold_alone(const char *uri)
{
	options.no_threads = 1;
	given_client(uri);
	hold = take(unbound(client, "a"));
	lock = unbound(client, "b");
	outcomes_process(client);
}

CASE(wait_alone, renews_beside_a_question)
{
	given_hold_alone("fake:?ttl=3s");
	FAKE_SCRIPT(fake, FAKE_INSPECT, .gate = 1, .fault = FAKE_REFUSE);
	OK(dlock_inspect_start(lock, count_participant, 8000, outcome_note,
			       &o));
	cr_assert_eq(outcome_of(&o), DLOCK_EUNREACHABLE);
	OK(dlock_release(hold));
}

/* The first attempt is left without an answer, and the second grants. */
static void granted_by_the_second(const char *uri, int64_t timeout_ms)
{
	given_hold_alone(uri);
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .gate = 1, .fault = FAKE_REFUSE);
	ask_async(&o, lock, timeout_ms);
	OK(dlock_release(granted(&o)));
	OK(dlock_release(hold));
}

CASE(wait_alone, renews_beside_an_attempt)
{
	granted_by_the_second("fake:?ttl=3s&close=8s&connect=8s", 9000);
}

/* An attempt has less time than a try. */
CASE(wait_alone, asks_again_in_a_try)
{
	granted_by_the_second("fake:?ttl=3s&close=8s&connect=8s&ask=8s", 0);
}

CASE(wait_alone, has_overtime_once_in_a_try)
{
	dlock_hold *none;

	given_hold_alone("fake:?ttl=3s&close=8s&connect=8s&ask=8s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_SILENT, .overtime_ms = 1);
	cr_assert_eq(dlock_acquire(lock, 0, &none), DLOCK_EUNREACHABLE);
	OK(dlock_release(hold));
}

/* Between two attempts the thread would clean up, for longer than it has. */
CASE(wait_alone, ends_a_try_by_ask_with_a_clean_up_due)
{
	dlock_hold *none;

	given_hold_alone("fake:?ttl=3s&close=8s&connect=8s&ask=1700ms");
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_REFUSE);
	cr_assert_eq(dlock_release(hold), DLOCK_EUNREACHABLE);
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	cr_assert_eq(dlock_acquire(lock, 0, &none), DLOCK_EUNREACHABLE);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	fake_clear(fake);
}

TestSuite(release_alone, .init = timed_fixture, .timeout = 60);

static void *release_one(void *h)
{
	OK(dlock_release(h));
	return NULL;
}

static pthread_t release_beside(dlock_hold *h)
{
	pthread_t thread;

	thread = thread_begin(release_one, h);
	return thread;
}

/* Nothing is to be done for the client meanwhile. */
CASE(release_alone, of_a_read_side_goes_on_once_the_write_side_is_released)
{
	pthread_t writes, reads;
	dlock_hold *h;
	dlk_time begun;

	options.no_threads = 1;
	given_rwlock("fake:?close=30s");
	OK(dlock_lock_unbind(lock));
	lock = upgradeable(lock);
	hold = take(lock);
	OK(dlock_upgrade(lock, hold, 0, &h));
	FAKE_SCRIPT(fake, FAKE_RELEASE, .gate = 1);
	writes = release_beside(h);
	EVENTUALLY(fake_count(fake, FAKE_RELEASE) == 1);
	reads = release_beside(hold);
	EVENTUALLY(calls_under_way(client) == 2);
	begun = dlk_now();
	fake_open_gate(fake);
	pthread_join(writes, NULL);
	pthread_join(reads, NULL);
	cr_assert_lt(dlk_now(), late(begun + 1000 * DLK_MS));
}
