/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of ops. */
#include "backends/memcached/protocol/store.h"

/* Shorten the lease.  The engine counts from the last request, and the server
 * from the request that stored the item. */
static void shorten(const struct memc_job *job, struct dlki_op *op)
{
	dlk_time late = job->asked - job->lease_from;

	op->lease_ms -= (late + DLK_MS - 1) / DLK_MS;
}

void dlki_memc_end_granted(struct memc_job *job, struct dlki_op *op)
{
	shorten(job, op);
	dlki_granted(op, dlki_memc_asked(op)->claim.token);
	dlki_memc_job_free(job);
}

void dlki_memc_end_renewed(struct memc_store *s, struct memc_job *job,
			   struct dlki_op *op)
{
	(void)s;
	shorten(job, op);
	dlki_memc_end_answered(job, op, 1);
}

void dlki_memc_end_done(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	(void)s;
	dlki_memc_end_answered(job, op, 1);
}

void dlki_memc_end_gone(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	(void)s;
	dlki_memc_end_answered(job, op, 0);
}

/* ---- Busy ---------------------------------------------------------------- */

void dlki_memc_job_note_foreign(struct memc_store *s, struct memc_job *job,
				const struct memc_op *op)
{
	if (op->answer != MEMC_MISSING && !op->item.owner[0])
		dlki_memc_key(s->run.stem, s->run.stem_len, op->request,
			      op->slot, job->foreign);
}

/* Report a foreign item, which may never expire, and which no client
 * releases. */
static void report_foreign(struct memc_store *s, struct dlki_op *op,
			   const char *key)
{
	struct dlk_error err;

	dlk_fail(&err, DLOCK_EBUSY, MEMC_IS_FOREIGN, key);
	dlki_in_the_way(op, &err);
	if (!s->told_foreign)
		dlki_warn(&s->base, err.text);
	s->told_foreign = 1;
}

void dlki_memc_end_busy(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	struct memc_asked *asked = dlki_memc_asked(op);
	dlk_time pause = dlki_memc_looks_told(
		&s->looks, op->request, asked->number, op->id,
		&asked->claim.looks, s->pauses.early, s->pauses.max_ms, s->now);
	int64_t ms = (pause + DLK_MS / 2) / DLK_MS;

	if (job->foreign[0])
		report_foreign(s, op, job->foreign);
	dlki_busy(op, pause > 0 && ms == 0 ? 1 : ms, 0);
	dlki_memc_job_free(job);
}

/* ---- Waiters ------------------------------------------------------------- */

static void wake(void *store, uint64_t waker)
{
	dlki_wake(store, waker);
}

void dlki_memc_wake(struct memc_store *s, const struct dlk_request *request)
{
	dlki_memc_looks_wake(&s->looks, request, wake, &s->base);
}
