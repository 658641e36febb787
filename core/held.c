/* SPDX-License-Identifier: Apache-2.0 */
/* Counting the holds of a lock. */
#include <limits.h>

#include "core/base/error.h"
#include "core/claim.h"
#include "core/guard.h"
#include "core/multi.h"

/* A lock counts as a permit. */
static uint64_t permits_of(const struct dlki_claim *claim)
{
	uint32_t permits = claim->ticket->request.permits;

	return permits > 0 ? permits : 1;
}

static uint64_t count_of(const struct dlki_claim *claim, int both_sides)
{
	const struct dlock_hold *own = &claim->own;
	uint64_t n = 0;

	if (both_sides || own->side == DLK_EXCLUSIVE)
		n += own->count;
	if (both_sides)
		n += claim->read.count;
	return n;
}

static int held(const dlock_lock *lock, struct dlk_error *err)
{
	const struct dlki_record *r = lock->record;
	struct dlock_client *c = r->client;
	int any = r->kind == DLK_SEMAPHORE;
	uint64_t me = dlki_lock_thread(lock);
	struct dlki_claim *h;
	uint64_t n = 0;
	int rc = dlki_client_ours(c, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	LIST_FOREACH(h, &r->held, in_list)
		if ((any || h->thread == me) && dlki_claim_valid(h))
			n += count_of(h, any || lock->has_read_side) *
			     permits_of(h);
	pthread_mutex_unlock(&c->mu);
	return n < INT_MAX ? (int)n : INT_MAX;
}

static int multi_held(const struct dlki_multi *multi, struct dlk_error *err)
{
	int least = INT_MAX;

	for (size_t i = 0; i < multi->n && least > 0; i++) {
		int n = held(multi->member[i].lock, err);

		if (n < least)
			least = n;
	}
	return least;
}

int dlock_lock_held(dlock_lock *lock)
{
	struct dlki_scope s = dlki_enter();
	int rc;

	if (!lock)
		rc = dlk_fail(&s.err, DLOCK_EINVAL, "lock is NULL");
	else if (dlki_lock_is_multi(lock))
		rc = multi_held(lock->multi, &s.err);
	else
		rc = held(lock, &s.err);
	return dlki_leave_with(&s, rc);
}
