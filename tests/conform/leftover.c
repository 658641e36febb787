/* SPDX-License-Identifier: Apache-2.0 */
/* A client that goes on leaves no threads, descriptors or claims behind. */
#include <stdio.h>

#include "conform/cases.h"
#include "conform/worker.h"

/* The library creates some objects only after repeated use: after WARM rounds
 * all exist. */
enum { WARM = 30, ROUNDS = 30, NAMES = 3 };

/* Make a try, a wait with a timeout and a cancelled wait. */
static void wait_in_vain(struct conform *t, struct worker *p)
{
	dlock_hold *h = NULL;

	refused(t->lock);
	CHECK_RC(acquire(t->lock, 2, &h), DLOCK_EBUSY);
	tell(p, ACQUIRE, -1);
	await_waiters(t, 1);
	dlock_cancel(t->lock);
	CHECK_INT(hear(p).rc, ==, DLOCK_ECANCELED);
}

void case_leftover_waits(struct conform *t)
{
	struct census warm;
	struct worker *p;
	dlock_hold *h;

	use_mutex(t);
	h = take(handle(t, another_client(t, NULL, NULL)));
	p = join(t, SAME_HANDLE);
	for (int i = 0; i < WARM; i++)
		wait_in_vain(t, p);
	census_take(&warm);
	for (int i = 0; i < ROUNDS; i++)
		wait_in_vain(t, p);
	census_same(&warm);
	EVENTUALLY(stats_of(t->client).pending_cleanups == 0);
	CHECK_INT(stats_of(t->client).waiters, ==, 0);
	give(h);
	is_free(t->lock);
}

/* The holds are of several names. */
void case_leftover_holds(struct conform *t)
{
	struct census warm;

	use_mutex(t);
	for (int i = 0; i < WARM + ROUNDS; i++) {
		dlock_lock *l = NULL;
		dlock_hold *h;
		char name[24];

		if (i == WARM)
			census_take(&warm);
		snprintf(name, sizeof(name), "conform/%d", i % NAMES);
		CHECK_OK(dlock_mutex_new(&l, t->client, name));
		face_knows(l, t->client, NULL);
		h = take(l);
		CHECK_INT(dlock_hold_fd(h), >=, 0);
		give(h);
		dlock_lock_free(l);
	}
	census_same(&warm);
	CHECK_INT(stats_of(t->client).holds, ==, 0);
	EVENTUALLY(stats_of(t->client).pending_cleanups == 0);
}
