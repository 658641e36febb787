/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-locks with members of different kinds or stores. */
#include "conform/cases.h"

/* A call that dlock-loop has ended on a busy machine leaves the wait queue
 * later. */
static void times_out(dlock_lock *all, dlock_client *const clients[2])
{
	dlock_hold *none = NULL;

	CHECK_RC(acquire(all, 20, &none), DLOCK_EBUSY);
	for (int i = 0; i < 2; i++)
		EVENTUALLY(stats_of(clients[i]).pending_cleanups == 0);
}

void case_multi_two_stores(struct conform *t)
{
	dlock_lock *both[2], *twin[2], *all;
	dlock_client *mem[2] = { NULL };
	dlock_hold *h;

	for (int i = 0; i < 2; i++) {
		CHECK_OK(dlock_open(&mem[i], "mem://conform-second-store",
				    NULL));
		t->clients[t->n_clients++] = mem[i];
	}
	use_mutex(t);
	both[0] = t->lock;
	both[1] = any_lock(t, mem[0], MUTEX, 0, t->name);
	twin[0] = handle(t, another_client(t, NULL, NULL));
	twin[1] = any_lock(t, mem[1], MUTEX, 0, t->name);
	all = multi(t, both, 2);
	h = take(all);
	refused(twin[0]);
	refused(twin[1]);
	give(h);
	for (int i = 0; i < 2; i++) {
		h = take(twin[i]);
		times_out(all, (dlock_client *[]){ t->client, mem[0] });
		is_free(twin[1 - i]);
		give(h);
	}
}

void case_multi_kinds(struct conform *t)
{
	const char *const names[] = { t->name, "conform/other", t->name };
	dlock_client *c = another_client(t, NULL, NULL);
	dlock_lock *mine[3], *theirs[3], *all;
	dlock_hold *h, *second;

	for (int i = 0; i < 3; i++) {
		mine[i] = any_lock(t, t->client, (enum kind)i, 2, names[i]);
		theirs[i] = any_lock(t, c, (enum kind)i, 2, names[i]);
	}
	all = multi(t, mine, 3);
	h = take(all);
	refused(theirs[MUTEX]);
	refused(theirs[RWLOCK]);
	refused_shared(theirs[RWLOCK]);
	is_free(theirs[SEMAPHORE]);
	give(h);
	/* Both permits are held by the other client: no member may stay
	 * held. */
	h = take(theirs[SEMAPHORE]);
	give(take(all));
	second = take(theirs[SEMAPHORE]);
	refused(all);
	is_free(theirs[MUTEX]);
	give(h);
	is_free(all);
	give(second);
}
