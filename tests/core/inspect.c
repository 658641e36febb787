/* SPDX-License-Identifier: Apache-2.0 */
/* inspect, list and break: times, failures and calls from a callback. */
#include "core/fixture.h"
#include "support/outcome.h"

#include <stdio.h>

static void set_up(void)
{
	timed_fixture();
	given_mutex("fake:?ttl=5s&ask=50ms");
}

TestSuite(inspect, .init = set_up, .timeout = 60);

/* How often the functions below were called. */
static int told;

static void participant(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	cr_assert_eq(p->size, sizeof(*p));
	told++;
}

static void entry(const struct dlock_lock_info *e, void *arg)
{
	(void)arg;
	cr_assert_eq(e->size, sizeof(*e));
	told++;
}

static int question(int verb, int64_t timeout_ms)
{
	if (verb == FAKE_INSPECT)
		return dlock_inspect(lock, participant, NULL, timeout_ms);
	if (verb == FAKE_LIST)
		return dlock_list(client, entry, NULL, timeout_ms);
	return dlock_break(lock, timeout_ms);
}

/* The core holds no lock while the caller's function runs. */
static void ask_again(const struct dlock_lock_info *e, void *rc)
{
	(void)e;
	told++;
	*(int *)rc = dlock_list(client, entry, NULL, 1000);
}

CASE(inspect, may_be_asked_while_it_tells)
{
	int rc = -1;

	hold = take(lock);
	OK(dlock_list(client, ask_again, &rc, 1000));
	cr_assert_eq(told, 2);
	OK(rc);
	OK(dlock_release(hold));
}

static void close_it(const struct dlock_lock_info *e, void *arg)
{
	(void)e;
	(void)arg;
	told++;
	close_client();
}

CASE(inspect, may_be_closed_while_it_tells, .timeout = 20)
{
	hold = take(lock);
	OK(dlock_list(client, close_it, NULL, 1000));
	cr_assert_eq(told, 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "closed");
}

/* The store breaks the rule that a failure has a code. */
CASE(inspect, that_fails_without_a_reason_has_a_message)
{
	for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++) {
		fake_once(fake, (enum fake_verb)verb, FAKE_CODE);
		cr_assert_lt(question(verb, 0), 0);
	}
}

CASE(inspect, keeps_deadlines_when_it_is_silent)
{
	dlk_time began = dlk_now();

	for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++) {
		fake_once(fake, (enum fake_verb)verb, FAKE_SILENT);
		cr_assert_eq(question(verb, 0), DLOCK_EUNREACHABLE);
	}
	cr_assert_lt(dlk_now(), late(began + 500 * DLK_MS));
	fake_once(fake, FAKE_INSPECT, FAKE_SILENT);
	began = dlk_now();
	cr_assert_eq(question(FAKE_INSPECT, 100), DLOCK_EUNREACHABLE);
	cr_assert_geq(dlk_now(), began + 100 * DLK_MS);
	cr_assert_lt(dlk_now(), late(began + 400 * DLK_MS));
}

/* A store with many locks needs all of the caller's time. */
CASE(inspect, has_all_the_time_that_it_was_given)
{
	for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++) {
		dlk_time began = dlk_now();

		OK(question(verb, 30000));
		cr_assert_geq(fake_last(fake, (enum fake_verb)verb).deadline,
			      began + 30000 * DLK_MS);
		OK(question(verb, -1));
		cr_assert_geq(fake_last(fake, (enum fake_verb)verb).deadline,
			      began + 60000 * DLK_MS);
	}
}

static void *ask_for_ever(void *verb)
{
	REFUSED(question(*(int *)verb, -1), DLOCK_ECANCELED, "closed");
	return NULL;
}

/* The close ends a question without a timeout. */
CASE(inspect, that_is_silent_does_not_keep_the_client_open)
{
	pthread_t thread[3];
	int verb[3];

	for (int i = 0; i < 3; i++) {
		verb[i] = FAKE_INSPECT + i;
		fake_once(fake, (enum fake_verb)verb[i], FAKE_SILENT);
		thread[i] = thread_begin(ask_for_ever, &verb[i]);
		EVENTUALLY(fake_count(fake, (enum fake_verb)verb[i]) == 1);
	}
	close_client_within(500);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

static struct dlock_participant seen;
static char seen_label[32];

static void see(const struct dlock_participant *p, void *arg)
{
	(void)arg;
	told++;
	seen = *p;
	snprintf(seen_label, sizeof(seen_label), "%s", p->label);
}

static int is_shown(dlock_lock *l)
{
	OK(dlock_inspect(l, see, NULL, 1000));
	return told > 0;
}

/* Begins to acquire `l` by `want`, and has the waiter shown, of whom the store
 * has had no request. */
static void shows_unsent(dlock_lock *l, dlock_acquire_options want)
{
	static struct outcome o;

	told = 0;
	o = (struct outcome){ 0 };
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_REFUSE, .unsent = 1,
		    .times = FAKE_ALWAYS);
	OK(dlock_acquire_opts_start(l, &want, outcome_note, &o, NULL));
	EVENTUALLY(is_shown(l));
	fake_clear(fake);
	OK(dlock_release(granted(&o)));
}

CASE(inspect, tells_how_a_waiter_asks_that_the_store_does_not_know)
{
	dlock_acquire_options want = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_lock *l = rwlock(client, "reads");

	outcomes_process(client);
	OK(dlock_lock_unbind(l));
	want.shared = 1;
	want.label = "a reader";
	shows_unsent(l, want);
	cr_assert_str_eq(seen_label, "a reader");
	cr_assert(seen.waiting && seen.shared);
	cr_assert_eq(seen.permits, 0);
}

CASE(inspect, tells_nothing_when_it_fails)
{
	static const enum fake_fault faults[] = { FAKE_REFUSE, FAKE_CUT };

	hold = take(lock);
	for (int i = 0; i < 2; i++) {
		for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++) {
			fake_once(fake, (enum fake_verb)verb, faults[i]);
			REFUSED(question(verb, 0), DLOCK_EUNREACHABLE,
				"no answer");
		}
	}
	cr_assert_eq(told, 0);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST,
		     "the cut break was done");
}
