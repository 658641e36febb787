/* SPDX-License-Identifier: Apache-2.0 */
#include "outcome.h"

#include <stdio.h>

#include "wait.h"

#define MOST_CLIENTS 64

static dlock_client *clients[MOST_CLIENTS];
static atomic_uint orders;

void outcome_note(const struct dlock_result *result, void *arg)
{
	struct outcome *o = arg;

	CHECK_INT(atomic_load(&o->calls), ==, 0);
	CHECK(result->size == sizeof(*result) && result->message);
	o->rc = result->code;
	o->hold = result->hold;
	o->client = result->client;
	o->at_ms = now_ms();
	o->thread = pthread_self();
	o->order = atomic_fetch_add(&orders, 1) + 1;
	snprintf(o->text, sizeof(o->text), "%s", result->message);
	atomic_fetch_add(&o->calls, 1);
}

/* ---- Processing ---------------------------------------------------------- */

void outcomes_process(dlock_client *client)
{
	for (int i = 0; i < MOST_CLIENTS; i++) {
		if (!clients[i]) {
			clients[i] = client;
			return;
		}
	}
	FAIL("too many clients");
}

void outcomes_leave(dlock_client *client)
{
	for (int i = 0; i < MOST_CLIENTS; i++) {
		if (clients[i] == client)
			clients[i] = NULL;
	}
}

static void process_all(void)
{
	for (int i = 0; i < MOST_CLIENTS; i++) {
		if (clients[i])
			CHECK_INT(dlock_process(clients[i], 0), >=, 0);
	}
}

int outcome_pending(struct outcome *o)
{
	process_all();
	return atomic_load(&o->calls) == 0;
}

int outcome_of(struct outcome *o)
{
	EVENTUALLY(!outcome_pending(o));
	return o->rc;
}

/* ---- Begins -------------------------------------------------------------- */

dlock_op ask_async(struct outcome *o, dlock_lock *lock, int64_t timeout_ms)
{
	dlock_op op = 0;

	CHECK_OK(dlock_acquire_start(lock, timeout_ms, outcome_note, o, &op));
	CHECK(op != 0);
	return op;
}

void give_async(struct outcome *o, dlock_hold *hold)
{
	CHECK_OK(dlock_release_start(hold, outcome_note, o));
}

dlock_hold *granted(struct outcome *o)
{
	if (outcome_of(o) != DLOCK_OK)
		FAIL("%s: %s", check_code(o->rc), o->text);
	CHECK(o->hold != NULL);
	return o->hold;
}

void ended_with(struct outcome *o, int code)
{
	CHECK_INT(outcome_of(o), ==, code);
	CHECK(o->hold == NULL);
}

void given_back(dlock_hold *hold)
{
	struct outcome o = { 0 };

	give_async(&o, hold);
	ended_with(&o, DLOCK_OK);
}

int outcomes_called(struct outcome *o, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += atomic_load(&o[i].calls);
	return sum;
}
