/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resizing: the mark of a semaphore with a taken slot gets the new limit.  A
 * client about to take a slot by the old limit sees the change afterwards, and
 * gives the slot back.
 */
#include <string.h>

#include "backends/memcached/protocol/limit.h"
#include "backends/memcached/protocol/store.h"

static void see_slots(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op);

static void limit_stored(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	if (job->ops[0].answer == MEMC_DONE) {
		dlki_memc_wake(s, op->request);
		dlki_memc_end_answered(job, op, 1);
	} else if (++job->rounds < MEMC_ROUNDS) {
		see_slots(s, job, op);
	} else {
		dlki_memc_end_unreachable(s, job, op, MEMC_IS_BUSY);
	}
}

/* Make the evicted mark anew, in the name of a holder. */
static struct memc_op make_mark(struct memc_job *job, const struct dlki_op *op,
				uint32_t limit)
{
	struct memc_op one;

	memcpy(job->owner, job->seen->other, sizeof(job->owner));
	job->to_owner = *op->request;
	job->to_owner.owner = job->owner;
	one = dlki_memc_op(MEMC_ADD, &job->to_owner, MEMC_MARK);
	one.add = 1;
	one.limit = limit;
	return one;
}

static void slots_seen(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	const struct memc_seen *seen = job->seen;
	int permits = (int)op->request->limit, slots = job->places_end;
	int is_missing = seen->mark.answer == MEMC_MISSING;
	uint32_t limit;
	struct dlk_error err;

	if (job->foreign[0]) {
		dlk_fail(&err, DLOCK_EPROTO, MEMC_IS_FOREIGN, job->foreign);
		dlki_memc_end_failed(job, op, &err);
		return;
	}
	if (seen->n_taken == 0) {
		dlki_memc_end_answered(job, op, 0);
		return;
	}
	while (slots > permits && is_missing && !seen->taken[slots - 1])
		slots--;
	limit = dlki_memc_limit_set(permits, slots);
	dlki_memc_job_clear(job);
	job->ops[job->n++] = is_missing ?
				     make_mark(job, op, limit) :
				     dlki_memc_mark_change(op->request,
							   &seen->mark, limit);
	dlki_memc_job_send(s, job, op, limit_stored);
}

static void see_slots(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	dlki_memc_see(s, job, op, slots_seen);
}

void dlki_memc_store_resize(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job;
	struct dlk_error err;

	if (dlki_memc_is_too_many(op->request, &err)) {
		dlki_failed(op, &err, DLKI_RESIDUE_NONE);
		return;
	}
	job = dlki_memc_job_new(s, op);
	if (job)
		dlki_memc_job_confirm(s, job, op, see_slots);
}
