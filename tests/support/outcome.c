/* SPDX-License-Identifier: Apache-2.0 */
#include "outcome.h"

#include <stdio.h>

#include "wait.h"

static atomic_uint orders;

void outcome_note(int rc, dlock_hold *hold, void *arg)
{
	struct outcome *o = arg;

	CHECK_INT(atomic_load(&o->calls), ==, 0);
	o->rc = rc;
	o->hold = hold;
	o->at_ms = now_ms();
	o->thread = pthread_self();
	o->order = atomic_fetch_add(&orders, 1);
	if (rc < 0)
		snprintf(o->text, sizeof(o->text), "%s", dlock_errmsg());
	atomic_fetch_add(&o->calls, 1);
}

void ask_async(struct outcome *o, dlock_lock *lock, int64_t timeout_ms)
{
	CHECK_OK(dlock_acquire_async(lock, timeout_ms, outcome_note, o, NULL));
}

void read_async(struct outcome *o, dlock_lock *lock, int64_t timeout_ms)
{
	CHECK_OK(dlock_acquire_shared_async(lock, timeout_ms, outcome_note, o,
					    NULL));
}

dlock_async *begin_async(struct outcome *o, dlock_lock *lock,
			 int64_t timeout_ms)
{
	dlock_async *r = NULL;

	CHECK_OK(dlock_acquire_async(lock, timeout_ms, outcome_note, o, &r));
	return r;
}

void give_async(struct outcome *o, dlock_hold *hold)
{
	CHECK_OK(dlock_release_async(hold, outcome_note, o));
}

int outcome_of(struct outcome *o)
{
	EVENTUALLY(atomic_load(&o->calls) > 0);
	return o->rc;
}

int outcome_pending(struct outcome *o)
{
	return atomic_load(&o->calls) == 0;
}
