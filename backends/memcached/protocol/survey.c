/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Surveys: get the items at all places of a lock, a request after the other.
 *
 * The survey of a semaphore begins with the slots of the request, and reaches
 * all slots that may be taken, by the mark or by an item with a set limit.  If
 * there is no mark, which the server may have evicted, all verbs but an attempt
 * reach every slot.
 */
#include "backends/memcached/protocol/limit.h"
#include "backends/memcached/protocol/store.h"

int dlki_memc_job_places(struct memc_job *job, int from)
{
	int end = job->places_end;

	dlki_memc_job_clear(job);
	if (from >= end)
		return 0;
	job->from = from;
	job->to = from + MEMC_BATCH_MAX < end ? from + MEMC_BATCH_MAX : end;
	return 1;
}

static void survey_on(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	if (dlki_memc_job_places(job, job->to))
		dlki_memc_job_send(s, job, op, survey_on);
	else
		job->after(s, job, op);
}

void dlki_memc_job_survey(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op, int first, int end,
			  memc_then *after)
{
	job->to = first;
	job->places_end = end;
	job->after = after;
	survey_on(s, job, op);
}

static void survey_all(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	int is_lock = op->request->kind == DLK_LOCK;

	dlki_memc_job_survey(s, job, op, is_lock ? MEMC_GATE : MEMC_MARK,
			     dlki_memc_slots(op->request), job->after);
}

void dlki_memc_job_survey_all(struct memc_store *s, struct memc_job *job,
			      struct dlki_op *op, memc_then *after)
{
	job->after = after;
	dlki_memc_job_confirm(s, job, op, survey_all);
}

/* Return how many slots may be taken, by this item of a semaphore. */
static int slots_by(const struct memc_op *one)
{
	if (one->slot == MEMC_MARK)
		return dlki_memc_mark_slots(one);
	return one->answer != MEMC_MISSING && one->item.owner[0] &&
			       dlki_memc_limit_is_set(one->item.limit) ?
		       dlki_memc_limit_slots(one->item.limit) :
		       0;
}

void dlki_memc_job_reach(struct memc_job *job, const struct memc_op *one)
{
	int slots;

	if (one->request->kind != DLK_SEMAPHORE)
		return;
	slots = slots_by(one);
	if (slots == 0 && one->slot == MEMC_MARK && job->verb != DLKI_ATTEMPT)
		slots = MEMC_PERMITS;
	if (job->places_end < slots)
		job->places_end = slots;
}
