/* SPDX-License-Identifier: Apache-2.0 */
/* The wish asks the owner at a lock's gate to give the lock up: a waiter or a
 * revoke leaves a wish, and the owner looks for it. */
#include <string.h>

#include "backends/memcached/protocol/store.h"

enum { WISH_ROUNDS = 3 };

/* ---- Leave a wish ------------------------------------------------------- */

/* Leave the wish.  Another client may do so at the same time: either serves. */
static void wish_answered(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op)
{
	struct memc_op *wish = &job->ops[0];

	if (wish->answer == MEMC_DONE || wish->answer == MEMC_MINE ||
	    ++job->rounds > WISH_ROUNDS) {
		job->after(s, job, op);
		return;
	}
	wish->verb = wish->answer == MEMC_MISSING ? MEMC_ADD : MEMC_SWAP;
	wish->cas = wish->item.cas;
	wish->add = 1;
	dlki_memc_job_send(s, job, op, wish_answered);
}

void dlki_memc_wish(struct memc_store *s, struct memc_job *job,
		    struct dlki_op *op, const char *owner, memc_then *after)
{
	memmove(job->owner, owner, sizeof(job->owner));
	job->to_owner = *op->request;
	job->to_owner.owner = job->owner;
	job->after = after;
	job->rounds = 1;
	dlki_memc_job_clear(job);
	job->ops[job->n++] = dlki_memc_op(MEMC_GET, &job->to_owner, MEMC_WISH);
	dlki_memc_job_send(s, job, op, wish_answered);
}

/* ---- Revoke -------------------------------------------------------------- */

static void owner_seen(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	const struct memc_op *gate = &job->ops[0];

	if (gate->answer == MEMC_MISSING || !gate->item.owner[0])
		dlki_memc_end_done(s, job, op);
	else
		dlki_memc_wish(s, job, op, gate->item.owner,
			       dlki_memc_end_done);
}

void dlki_memc_store_revoke(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job = dlki_memc_job_new(s, op);

	if (!job)
		return;
	job->ops[job->n++] = dlki_memc_op(MEMC_GET, op->request, MEMC_GATE);
	dlki_memc_job_send(s, job, op, owner_seen);
}

/* ---- Watch --------------------------------------------------------------- */

static void end_watch(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	const struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	int wanted = job->ops[0].verb != MEMC_GET;

	(void)s;
	dlki_watched(op, wanted, claim->token);
	dlki_memc_job_free(job);
}

static void wish_seen(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	struct memc_op *wish = &job->ops[0];

	if (wish->answer != MEMC_MINE) {
		end_watch(s, job, op);
		return;
	}
	wish->verb = MEMC_DROP;
	wish->cas = wish->item.cas;
	dlki_memc_job_send(s, job, op, end_watch);
}

/* Watch: from now on, renewals look for a wish. */
void dlki_memc_store_watch(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job = dlki_memc_job_new(s, op);

	if (!job)
		return;
	dlki_memc_asked(op)->claim.watched = 1;
	job->ops[job->n++] = dlki_memc_op(MEMC_GET, op->request, MEMC_WISH);
	dlki_memc_job_send(s, job, op, wish_seen);
}
