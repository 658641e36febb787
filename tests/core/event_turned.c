/* SPDX-License-Identifier: Apache-2.0 */
/* Events that dlock_process() tells from a moment on. */
#include <dlock/async.h>

#include "core/client.h"
#include "core/fixture.h"

TestSuite(event_turned, .init = fixture, .timeout = 60);

static atomic_int turned;

static void *turn_over(void *arg)
{
	OK(dlock_events_by_process(client));
	atomic_store(&turned, 1);
	return arg;
}

/* Whether dlock_events_by_process() has begun. */
static int is_turned(void)
{
	int yes;

	pthread_mutex_lock(&client->mu);
	yes = client->events.by_process;
	pthread_mutex_unlock(&client->mu);
	return yes;
}

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
	cr_assert_eq(pthread_create(&thread, NULL, turn_over, NULL), 0);
	EVENTUALLY(is_turned());
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
static void turn_inside(dlock_hold *h, enum dlock_event event, const char *why,
			void *arg)
{
	(void)h;
	(void)event;
	(void)why;
	(void)arg;
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
