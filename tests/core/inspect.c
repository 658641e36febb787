/* SPDX-License-Identifier: Apache-2.0 */
/* inspect, list and break: what is told, by when, and what fails. */
#include "core/fixture.h"

#include <stdio.h>

static void set_up(void)
{
	timed_fixture();
	given_mutex("fake:?ttl=5s&ask=50ms");
}

TestSuite(inspect, .init = set_up, .timeout = 60);

struct told {
	int n, waiting, shared;
	char text[400];
	int rc;
};

static void participant(const struct dlock_participant *p, void *arg)
{
	struct told *t = arg;
	size_t used = strlen(t->text);

	cr_assert_eq(p->size, sizeof(*p));
	t->n++;
	t->waiting += p->waiting;
	t->shared += p->shared;
	snprintf(t->text + used, sizeof(t->text) - used, "%s/%.4s ", p->label,
		 p->id);
}

static void entry(const struct dlock_lock_info *e, void *arg)
{
	struct told *t = arg;
	size_t used = strlen(t->text);

	cr_assert_eq(e->size, sizeof(*e));
	t->n++;
	snprintf(t->text + used, sizeof(t->text) - used, "%s:%s:%u ", e->kind,
		 e->name, e->permits);
}

CASE(inspect, tells_who_holds_and_who_waits)
{
	dlock_lock *s = semaphore(client, "s", 2);
	struct taker t = { 0 };
	struct told told = { 0 };

	OK(dlock_inspect(lock, participant, &told, 1000));
	cr_assert_eq(told.n, 0);
	/* One that tells neither its label nor its id. */
	fake_occupy(fake, DLK_LOCK, "a", 0);
	taker_start(&t, lock, -1);
	EVENTUALLY(stats(client).waiters == 1);
	OK(dlock_inspect(lock, participant, &told, 1000));
	cr_assert_eq(told.n, 2);
	cr_assert_eq(told.waiting, 1);
	cr_assert_eq(told.shared, 0);
	cr_assert(strncmp(told.text, "/ ", 2) == 0, "%s", told.text);
	fake_vacate(fake, DLK_LOCK, "a");
	OK(taker_join(&t));
	hold = take(s);
	told = (struct told){ 0 };
	OK(dlock_inspect(s, participant, &told, 1000));
	cr_assert_eq(told.shared, 1);
	OK(dlock_release(hold));
}

/* The caller's function may ask in its turn: no lock is held. */
static void ask_again(const struct dlock_lock_info *e, void *arg)
{
	struct told *t = arg, inner = { 0 };

	(void)e;
	t->n++;
	t->rc |= dlock_list(client, entry, &inner, 1000);
}

CASE(inspect, may_be_asked_while_it_tells)
{
	struct told told = { 0 };

	hold = take(lock);
	OK(dlock_list(client, ask_again, &told, 1000));
	cr_assert_eq(told.n, 1);
	OK(told.rc);
	OK(dlock_release(hold));
}

static void close_it(const struct dlock_lock_info *e, void *arg)
{
	struct told *t = arg;

	(void)e;
	t->n++;
	close_client();
}

CASE(inspect, may_be_closed_while_it_tells, .timeout = 20)
{
	struct told told = { 0 };

	hold = take(lock);
	OK(dlock_list(client, close_it, &told, 1000));
	cr_assert_eq(told.n, 1);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "closed");
}

CASE(inspect, tells_nothing_when_it_fails)
{
	static const enum fake_fault faults[] = { FAKE_REFUSE, FAKE_CUT };
	struct told told = { 0 };

	hold = take(lock);
	for (int i = 0; i < 2; i++) {
		for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++)
			fake_once(fake, (enum fake_verb)verb, faults[i]);
		REFUSED(dlock_inspect(lock, participant, &told, 0),
			DLOCK_EUNREACHABLE, "no answer");
		REFUSED(dlock_list(client, entry, &told, 0), DLOCK_EUNREACHABLE,
			"no answer");
		REFUSED(dlock_break(lock, 0), DLOCK_EUNREACHABLE, "no answer");
	}
	cr_assert_eq(told.n, 0);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST,
		     "the cut break was done");
}

/* A store that breaks its word and says nothing about why. */
CASE(inspect, that_fails_without_a_reason_has_a_message)
{
	struct told told = { 0 };

	for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++)
		fake_once(fake, (enum fake_verb)verb, FAKE_CODE);
	cr_assert_lt(dlock_inspect(lock, participant, &told, 0), 0);
	cr_assert_lt(dlock_list(client, entry, &told, 0), 0);
	cr_assert_lt(dlock_break(lock, 0), 0);
}

CASE(inspect, keeps_deadlines_when_it_is_silent)
{
	struct told told = { 0 };
	dlk_time began = dlk_now();

	for (int verb = FAKE_INSPECT; verb <= FAKE_BREAK; verb++)
		FAKE_SCRIPT(fake, (enum fake_verb)verb, .fault = FAKE_SILENT,
			    .times = 2);
	cr_assert_eq(dlock_inspect(lock, participant, &told, 0),
		     DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_list(client, entry, &told, 0), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_break(lock, 0), DLOCK_EUNREACHABLE);
	cr_assert_lt(dlk_now(), late(began + 500 * DLK_MS));
	began = dlk_now();
	cr_assert_eq(dlock_inspect(lock, participant, &told, 100),
		     DLOCK_EUNREACHABLE);
	cr_assert_geq(dlk_now(), began + 100 * DLK_MS);
	cr_assert_lt(dlk_now(), late(began + 400 * DLK_MS));
}

static int question(int verb, int64_t timeout_ms)
{
	struct told told = { 0 };

	if (verb == FAKE_INSPECT)
		return dlock_inspect(lock, participant, &told, timeout_ms);
	if (verb == FAKE_LIST)
		return dlock_list(client, entry, &told, timeout_ms);
	return dlock_break(lock, timeout_ms);
}

/* A store that has much to tell needs it. */
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

/* ... and yet none keeps the client from being closed. */
CASE(inspect, that_is_silent_does_not_keep_the_client_open)
{
	pthread_t thread[3];
	int verb[3];

	for (int i = 0; i < 3; i++) {
		verb[i] = FAKE_INSPECT + i;
		fake_once(fake, (enum fake_verb)verb[i], FAKE_SILENT);
		cr_assert_eq(pthread_create(&thread[i], NULL, ask_for_ever,
					    &verb[i]),
			     0);
		EVENTUALLY(fake_count(fake, (enum fake_verb)verb[i]) == 1);
	}
	close_client_within(500);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
}

CASE(inspect, refuses_once_it_is_closed)
{
	struct told told = { 0 };

	close_client();
	REFUSED(dlock_inspect(lock, participant, &told, 0), DLOCK_ECANCELED,
		"closed");
	REFUSED(dlock_break(lock, 0), DLOCK_ECANCELED, "closed");
}
