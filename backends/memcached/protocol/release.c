/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releasing.  One request removes the item of a claim; if the server was
 * restarted since, the item is gone.  If a request of the claim got no answer,
 * the release reads every place where an item of the claim can be.
 */
#include "backends/memcached/protocol/store.h"

static void end_release(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	struct memc_asked *asked = dlki_memc_asked(op);
	uint32_t all = dlki_memc_several(op->request) ? op->request->permits :
							1;

	if (asked->claim.owned != MEMC_NOTHING)
		dlki_memc_wake(s, op->request);
	/* A request without an answer may still arrive: look each time.  An
	 * attempt may be held. */
	*asked = (struct memc_asked){ .claim.unclear = job->unclear,
				      .claim.asked = job->unclear,
				      .claim.most = asked->claim.most,
				      .released = 1 };
	dlki_memc_end_answered(job, op, job->dropped >= all);
}

static void sweep(struct memc_store *s, struct memc_job *job,
		  struct dlki_op *op)
{
	job->swept = end_release;
	dlki_memc_sweep(s, job, op);
}

static void item_dropped(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	enum memc_answer answer = job->ops[0].answer;

	job->dropped = answer == MEMC_DONE;
	if (answer == MEMC_OTHER) /* the server moved it */
		sweep(s, job, op);
	else
		end_release(s, job, op);
}

void dlki_memc_store_release(struct memc_store *s, struct dlki_op *op)
{
	struct memc_asked *asked = dlki_memc_asked(op);
	const struct memc_claim *claim = &asked->claim;
	struct memc_job *job;

	asked->released = 1;
	if (claim->owned == MEMC_NOTHING && !claim->unclear) {
		*asked = (struct memc_asked){ .released = 1 };
		dlki_answered(op, 0);
		return;
	}
	job = dlki_memc_job_new(s, op);
	if (!job)
		return;
	if (claim->unclear || claim->owned == MEMC_NOTHING) {
		sweep(s, job, op);
	} else if (claim->born_s != s->run.born_s) {
		dlki_memc_job_confirm(s, job, op, end_release);
	} else if (claim->epoch != s->run.epoch ||
		   dlki_memc_several(op->request)) {
		sweep(s, job, op);
	} else {
		job->ops[job->n++] = dlki_memc_op(MEMC_DROP, op->request,
						  claim->slot);
		job->ops[0].cas = claim->cas;
		dlki_memc_job_send(s, job, op, item_dropped);
	}
}
