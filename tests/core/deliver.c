/* SPDX-License-Identifier: Apache-2.0 */
/* "dlock-deliver", the common thread for callbacks. */
#include "core/fixture.h"

#include "support/census.h"
#include "support/outcome.h"

TestSuite(deliver, .init = fixture, .timeout = 60);

static atomic_int told;
static dlock_client *other;

static int deliverers(void)
{
	return census_threads("dlock-deliver");
}

ON_EVENT(callback)
{
	told++;
}

static void write_line(const struct dlock_log_line *line, void *arg)
{
	(void)line;
	(void)arg;
	told++;
}

/* The store's own thread writes the line; a call needs no thread for lines. */
CASE(deliver, begins_with_the_first_line_of_a_store)
{
	options.on_log = write_line;
	given_hold("fake:");
	cr_assert_eq(deliverers(), 0);
	fake_log(fake, "from elsewhere");
	EVENTUALLY(told == 1);
	cr_assert_eq(deliverers(), 1);
	close_client();
	cr_assert_eq(deliverers(), 0);
	drop_hold(hold);
}

ON_EVENT(close_other)
{
	dlock_close(other);
	told++;
}

CASE(deliver, may_close_another_client)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.on_event = callback;
	events_call(close_other);
	given_hold("fake:");
	other = open_store("fake://far", &o);
	lose_last();
	EVENTUALLY(told == 1);
	cr_assert_eq(deliverers(), 1);
	drop_hold(hold);
}

ON_EVENT(cancel_itself)
{
	callback(about, event, why, arg);
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

/* The release of the hold waits for the callback. */
CASE(deliver, a_callback_that_waits_delays_no_asynchronous_call)
{
	static struct outcome released, o;
	dlock_lock *l;

	events_call(hold_up);
	given_unbound("fake:?ttl=60s");
	l = unbound(client, "b");
	outcomes_process(client);
	hold = take(lock);
	lose_last();
	EVENTUALLY(inside == 1);
	give_async(&released, hold);
	for (int i = 0; i < 2; i++) {
		ask_async(&o, l, -1);
		OK(outcome_of(&o));
		OK(dlock_release(o.hold));
		memset(&o, 0, sizeof(o));
	}
	cr_assert(outcome_pending(&released));
	go = 1;
	cr_assert_eq(outcome_of(&released), DLOCK_ELOST);
	cr_assert_eq(diary.losses, 1);
}

CASE(deliver, outlives_a_callback_that_cancels_it)
{
	events_call(cancel_itself);
	given_semaphore("fake:", 2);
	for (int i = 0; i < 2; i++) {
		hold = take(lock);
		lose_last();
		EVENTUALLY(told == i + 1);
		cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	}
}
