/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renewing: a request stores the item again in the place of the very item that
 * was there, and gets the mark of an item in a slot, or the wish for a watched
 * claim.  An item moved by the server has another cas since, and costs another
 * round trip; so does a mark that is to live longer.
 */
#include <string.h>

#include "backends/memcached/protocol/store.h"

static void store_item(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op, memc_then *then);

static int has_mark(const struct dlki_op *op)
{
	return op->request->mode == DLK_SHARED;
}

static int is_reader(const struct dlki_op *op)
{
	return op->request->kind == DLK_LOCK && has_mark(op);
}

/* ---- The wish ------------------------------------------------------------ */

static void hear_wish(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	struct memc_op drop = job->beside;

	if (!job->has_beside || has_mark(op) || drop.answer != MEMC_MINE) {
		dlki_memc_end_renewed(s, job, op);
		return;
	}
	dlki_wanted(&s->base, op->request->owner);
	drop.verb = MEMC_DROP;
	drop.cas = drop.item.cas;
	dlki_memc_job_clear(job);
	job->ops[job->n++] = drop;
	dlki_memc_job_send(s, job, op, dlki_memc_end_renewed);
}

/* ---- The mark ------------------------------------------------------------ */

static void judge_mark(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	const struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	if (is_reader(op) && !dlki_memc_mark_is_kept(claim, &job->beside))
		dlki_memc_end_answered(job, op, 0);
	else if (is_reader(op) &&
		 !dlki_memc_mark_lasts(&s->run, &job->beside, s->now))
		dlki_memc_end_unreachable(s, job, op, MEMC_IS_BUSY);
	else
		hear_wish(s, job, op);
}

static void mark_stored(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	job->beside = job->ops[0];
	judge_mark(s, job, op);
}

/* Renew the mark.  A reader's mark that has gone is not made again: the claim
 * has gone with it. */
static void renew_mark(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	struct memc_op one;

	if (!has_mark(op) ||
	    (is_reader(op) && !dlki_memc_mark_is_kept(claim, &job->beside))) {
		judge_mark(s, job, op);
		return;
	}
	dlki_memc_mark_learn(claim, &job->beside);
	one = dlki_memc_mark_op(&s->run, claim, op->request, &job->beside,
				s->now);
	if (one.verb == MEMC_GET) {
		judge_mark(s, job, op);
		return;
	}
	dlki_memc_job_clear(job);
	job->ops[job->n++] = one;
	dlki_memc_job_send(s, job, op, mark_stored);
}

/* ---- The item ------------------------------------------------------------ */

/* Judge the stored item.  1: it stands, and is stored again.  0: the op is
 * over, or goes on. */
static int judge(struct memc_store *s, struct memc_job *job, struct dlki_op *op,
		 memc_then *again)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	const struct memc_op *own = &job->ops[0];

	if (own->answer == MEMC_OTHER || own->answer == MEMC_MISSING ||
	    !dlki_memc_claim_granted(claim, &own->item)) {
		dlki_memc_end_answered(job, op, 0);
		return 0;
	}
	dlki_memc_claim_own(claim, &s->run, own);
	if (own->answer == MEMC_DONE) {
		job->lease_from = job->since;
		return 1;
	}
	if (again)
		store_item(s, job, op, again);
	else
		dlki_memc_end_unreachable(s, job, op, MEMC_IS_BUSY);
	return 0;
}

static void stored_again(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	if (judge(s, job, op, NULL))
		renew_mark(s, job, op);
}

static void stored(struct memc_store *s, struct memc_job *job,
		   struct dlki_op *op)
{
	job->has_beside = job->n > 1;
	if (job->has_beside)
		job->beside = job->ops[1];
	if (judge(s, job, op, stored_again))
		renew_mark(s, job, op);
}

/* Store the item.  An item of another server is read first: a server started in
 * the same second has the same keys. */
static void store_item(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op, memc_then *then)
{
	const struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	int is_first = then == stored;
	struct memc_op own = dlki_memc_op(
		claim->epoch == s->run.epoch ? MEMC_SWAP : MEMC_GET,
		op->request, claim->slot);

	own.cas = claim->cas;
	own.token = claim->token;
	own.has_lock = 1;
	if (op->request->kind == DLK_SEMAPHORE)
		own.limit = claim->limit;
	dlki_memc_job_clear(job);
	job->ops[job->n++] = own;
	if (is_first && has_mark(op))
		job->ops[job->n++] = dlki_memc_op(MEMC_GET, op->request,
						  MEMC_MARK);
	else if (is_first && claim->watched)
		job->ops[job->n++] = dlki_memc_op(MEMC_GET, op->request,
						  MEMC_WISH);
	dlki_memc_job_send(s, job, op, then);
}

void dlki_memc_store_renew(struct memc_store *s, struct dlki_op *op)
{
	const struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	struct memc_job *job = dlki_memc_job_new(s, op);

	if (!job)
		return;
	job->over = renew_mark;
	/* The claim is on a run of the server that is over. */
	if (claim->owned == MEMC_NOTHING || claim->born_s != s->run.born_s)
		dlki_memc_job_confirm(s, job, op, dlki_memc_end_gone);
	else if (dlki_memc_several(op->request))
		dlki_memc_renew_several(s, job, op);
	else
		store_item(s, job, op, stored);
}
