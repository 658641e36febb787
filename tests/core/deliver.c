/* SPDX-License-Identifier: Apache-2.0 */
/* "dlock-deliver", the common thread for callbacks. */
#include "core/fixture.h"

#include "support/census.h"
#include "support/outcome.h"

TestSuite(deliver, .init = fixture, .timeout = 60);

static struct {
	atomic_int blocks, inside, told;
	dlock_client *other;
} stage;

static int deliverers(void)
{
	return census_threads("dlock-deliver");
}

ON_EVENT(callback)
{
	atomic_fetch_add(&stage.inside, 1);
	while (atomic_load(&stage.blocks))
		nap_ms(1);
	atomic_fetch_sub(&stage.inside, 1);
	atomic_fetch_add(&stage.told, 1);
}

static void write_line(const struct dlock_log_line *line, void *arg)
{
	(void)line;
	(void)arg;
	atomic_fetch_add(&stage.told, 1);
}

static dlock_options calling(dlock_event_fn fn)
{
	dlock_options o = DLOCK_OPTIONS_INIT;

	o.on_event = fn;
	return o;
}

/* Opens another client, of another store. */
static dlock_client *another(const char *uri, dlock_event_fn fn)
{
	dlock_options o = calling(fn);

	return closed_at_end(open_store(uri, &o));
}

static void lose_last_in(const char *store)
{
	struct fake *f = fake_store(store);

	fake_lose(f, fake_last(f, FAKE_ATTEMPT).id);
}

/* The store's own thread writes the line; a call needs no thread for lines. */
CASE(deliver, begins_with_the_first_line_of_a_store)
{
	options = calling(NULL);
	options.on_log = write_line;
	given_hold("fake:");
	cr_assert_eq(deliverers(), 0);
	fake_log(fake, "from elsewhere");
	EVENTUALLY(atomic_load(&stage.told) == 1);
	cr_assert_eq(deliverers(), 1);
	close_client();
	cr_assert_eq(deliverers(), 0);
	drop_hold(hold);
}

/* While a client's callback does not return, the callbacks of other clients
 * wait, but renewals and the ends of leases do not. */
CASE(deliver, that_is_held_up_delays_callbacks_only)
{
	struct fake *far = fake_store("far");
	dlock_lock *l;
	dlock_hold *h;
	size_t renewals;

	events_call(callback);
	atomic_store(&stage.blocks, 1);
	given_hold("fake:");
	lose_last();
	EVENTUALLY(atomic_load(&stage.inside) == 1);
	l = mutex(another("fake://far?ttl=300ms", callback), "b");
	h = take(l);
	renewals = fake_count(far, FAKE_RENEW);
	EVENTUALLY(fake_count(far, FAKE_RENEW) >= renewals + 3);
	OK(dlock_check(h));
	fake_always(far, FAKE_RENEW, FAKE_SILENT);
	cr_assert(is_readable(dlock_hold_fd(h), patience_ms()));
	cr_assert_eq(dlock_check(h), DLOCK_ELOST);
	ALL_ALONG(50, atomic_load(&stage.told) == 0);
	atomic_store(&stage.blocks, 0);
	EVENTUALLY(atomic_load(&stage.told) >= 2);
	fake_clear(far);
	drop_hold(h);
	drop_hold(hold);
}

/* A close waits for callbacks of the client, and of no other client. */
CASE(deliver, that_is_held_up_delays_no_close_of_another_client)
{
	dlock_client *c;
	dlock_lock *l;
	dlock_hold *h;

	events_call(callback);
	given_hold("fake:");
	atomic_store(&stage.blocks, 1);
	lose_last();
	EVENTUALLY(atomic_load(&stage.inside) == 1);
	c = another("fake://far", callback);
	l = mutex(c, "b");
	h = take(l);
	lose_last_in("far");
	not_at_end(l);
	dlock_lock_free(l);
	not_at_end(c);
	close_store(c);
	drop_hold(h);
	cr_assert_eq(atomic_load(&stage.told), 0);
	atomic_store(&stage.blocks, 0);
	EVENTUALLY(atomic_load(&stage.told) == 1);
	drop_hold(hold);
}

ON_EVENT(close_other)
{
	dlock_close(stage.other);
	atomic_fetch_add(&stage.told, 1);
}

CASE(deliver, may_close_another_client)
{
	dlock_options o = calling(callback);

	events_call(close_other);
	given_hold("fake:");
	stage.other = open_store("fake://far", &o);
	lose_last();
	EVENTUALLY(atomic_load(&stage.told) == 1);
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
	dlock_lock *other;

	stage.blocks = 1;
	events_call(callback);
	given_unbound("fake:?ttl=60s");
	other = unbound(client, "other");
	outcomes_process(client);
	hold = take(lock);
	lose_last();
	EVENTUALLY(stage.inside == 1);
	give_async(&released, hold);
	for (int i = 0; i < 2; i++) {
		ask_async(&o, other, -1);
		OK(outcome_of(&o));
		OK(dlock_release(o.hold));
		memset(&o, 0, sizeof(o));
	}
	cr_assert(outcome_pending(&released));
	stage.blocks = 0;
	cr_assert_eq(outcome_of(&released), DLOCK_ELOST);
	cr_assert_eq(stage.told, 1);
}

CASE(deliver, outlives_a_callback_that_cancels_it)
{
	events_call(cancel_itself);
	given_semaphore("fake:", 2);
	for (int i = 0; i < 2; i++) {
		hold = take(lock);
		lose_last();
		EVENTUALLY(atomic_load(&stage.told) == i + 1);
		cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	}
}
