/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removing items of a lock: all that a claim may have, or, to break the lock,
 * all up to a token; until no item has changed meanwhile.
 */
#include <stdlib.h>

#include "backends/memcached/protocol/store.h"

static void sweep_part(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op);

static int is_meant(const struct memc_job *job, const struct memc_op *op)
{
	if (job->verb != DLKI_BREAK)
		return op->answer == MEMC_MINE;
	if (op->slot == MEMC_MARK)
		return 0;
	return op->answer != MEMC_MISSING && op->item.token <= job->last;
}

/* Note the operations of the next request, while the answers of this one
 * come. */
static void note_if_meant(struct memc_store *s, struct memc_job *job,
			  const struct memc_op *op)
{
	(void)s;
	if (is_meant(job, op) && job->n_found < MEMC_BATCH_MAX)
		job->found[job->n_found++] = (struct memc_found){
			.slot = op->slot,
			.item = op->item,
		};
}

static void end_sweep(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	if (!job->more)
		job->swept(s, job, op);
	else if (++job->rounds < MEMC_ROUNDS)
		dlki_memc_sweep(s, job, op);
	else
		dlki_memc_end_unreachable(s, job, op, MEMC_IS_BUSY);
}

static void part_dropped(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	const struct memc_asked *asked = dlki_memc_asked(op);

	for (size_t i = 0; i < job->n; i++) {
		const struct memc_op *one = &job->ops[i];

		job->more |= one->answer == MEMC_OTHER;
		job->dropped += one->answer == MEMC_DONE &&
				(!asked || dlki_memc_claim_granted(
						   &asked->claim, &one->item));
	}
	sweep_part(s, job, op);
}

static void part_seen(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	job->next_place = job->to;
	dlki_memc_job_clear(job);
	for (size_t i = 0; i < job->n_found; i++) {
		struct memc_op one = dlki_memc_op(MEMC_DROP, op->request,
						  job->found[i].slot);

		one.item = job->found[i].item;
		one.cas = one.item.cas;
		if (!dlki_memc_job_add(job, op, one))
			return;
	}
	if (job->n > 0)
		dlki_memc_job_send(s, job, op, part_dropped);
	else
		sweep_part(s, job, op);
}

static void sweep_part(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	job->n_found = 0;
	if (dlki_memc_job_places(job, job->next_place))
		dlki_memc_job_send(s, job, op, part_seen);
	else
		end_sweep(s, job, op);
}

/* Return the first place where the job may find items to remove.  A claim has
 * items at the gate only, or in the slots only; a claim of several permits may
 * have both, and gives up the gate with the release.  The break of a semaphore
 * gets the mark first, which says where the slots end. */
static int first_place(const struct memc_job *job,
		       const struct dlk_request *request)
{
	if (job->verb == DLKI_BREAK && request->kind == DLK_SEMAPHORE)
		return MEMC_MARK;
	if (job->verb == DLKI_BREAK || request->mode == DLK_EXCLUSIVE)
		return MEMC_GATE;
	return job->verb == DLKI_RELEASE && dlki_memc_several(request) ?
		       MEMC_GATE :
		       0;
}

static int last_place(const struct memc_job *job, const struct dlki_op *op)
{
	int slots = dlki_memc_slots(op->request), least = job->places_end;

	if (job->verb != DLKI_BREAK) {
		if (op->request->mode == DLK_EXCLUSIVE)
			return 0;
		least = dlki_memc_asked(op)->claim.most;
	}
	return slots < least ? least : slots;
}

void dlki_memc_sweep(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	if (!job->found)
		job->found = calloc(MEMC_BATCH_MAX, sizeof(*job->found));
	if (!job->found) {
		dlki_memc_end_nomem(job, op);
		return;
	}
	job->more = 0;
	job->each = note_if_meant;
	job->next_place = first_place(job, op->request);
	job->places_end = last_place(job, op);
	sweep_part(s, job, op);
}
