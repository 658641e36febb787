/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renewing a claim of several permits: get the slots, and store the items of
 * the claim again, each in the place of the very item that was there.  If an
 * item has gone, the claim has gone.
 */
#include <stdlib.h>

#include "backends/memcached/protocol/store.h"

enum { SWAPS = MEMC_BATCH_MAX - 1 }; /* a request has these, and the mark */

static void store_some(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op);

static void note_own(struct memc_store *s, struct memc_job *job,
		     const struct memc_op *one)
{
	struct dlki_op *op = dlki_front_op(s->link);
	struct memc_own *own = job->own;

	if (!op || one->answer != MEMC_MINE ||
	    !dlki_memc_claim_granted(&dlki_memc_asked(op)->claim, &one->item))
		return;
	own->item[own->n].slot = one->slot;
	own->item[own->n++].cas = one->item.cas;
}

static void own_seen(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	if (job->own->n < op->request->permits)
		dlki_memc_end_answered(job, op, 0);
	else
		store_some(s, job, op);
}

static void see_own(struct memc_store *s, struct memc_job *job,
		    struct dlki_op *op)
{
	job->own->n = job->own->done = 0;
	dlki_memc_job_survey(s, job, op, 0, dlki_memc_asked(op)->claim.most,
			     own_seen);
}

static void some_stored(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	struct memc_own *own = job->own;
	int moved = 0;
	size_t i;

	if (own->done == 0)
		job->lease_from = job->since;
	for (i = 0; job->ops[i].slot >= 0; i++) {
		if (job->ops[i].answer != MEMC_DONE &&
		    job->ops[i].answer != MEMC_MINE) {
			dlki_memc_end_answered(job, op, 0);
			return;
		}
		moved |= job->ops[i].answer == MEMC_MINE;
		own->done++;
	}
	job->has_beside = 1;
	job->beside = job->ops[i];
	if (!moved && own->done < own->n)
		store_some(s, job, op);
	else if (!moved)
		job->over(s, job, op);
	else if (++job->rounds < MEMC_ROUNDS)
		see_own(s, job, op);
	else
		dlki_memc_end_unreachable(s, job, op, MEMC_IS_BUSY);
}

static void store_some(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	const struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	const struct memc_own *own = job->own;
	uint32_t end = own->n - own->done > SWAPS ? own->done + SWAPS : own->n;
	struct memc_op one;

	dlki_memc_job_clear(job);
	for (uint32_t i = own->done; i < end; i++) {
		one = dlki_memc_op(MEMC_SWAP, op->request, own->item[i].slot);
		one.cas = own->item[i].cas;
		one.token = claim->token;
		one.limit = claim->limit;
		if (!dlki_memc_job_add(job, op, one))
			return;
	}
	one = dlki_memc_op(MEMC_GET, op->request, MEMC_MARK);
	if (dlki_memc_job_add(job, op, one))
		dlki_memc_job_send(s, job, op, some_stored);
}

void dlki_memc_renew_several(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	job->own = malloc(sizeof(*job->own));
	if (!job->own) {
		dlki_memc_end_nomem(job, op);
		return;
	}
	job->each = note_own;
	see_own(s, job, op);
}
