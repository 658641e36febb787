/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of a lock, with the gate and the mark, as a client sees them; and
 * which limit of a semaphore counts for an attempt.
 *
 * A limit set in the mark counts while a slot is taken, else the limit of the
 * request.  A mark without a set limit has the limit of all items.  If the
 * limit of the mark does not count, the client stores the request's, and then
 * gets the slots once more.  After taking a slot, a client gets the mark.
 * Either client sees the other.  The mark keeps the slots meanwhile: mark.h.
 *
 * With a set limit, clients take only slots below the number of permits.  Slots
 * beyond this number become empty and stay empty; then the mark leaves them
 * out.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/memcached/protocol/limit.h"
#include "backends/memcached/protocol/store.h"

/* ---- The slots ----------------------------------------------------------- */

/* Note the limit of another client's item.  A limit set in the mark counts also
 * for holders from before. */
static void note_limit(struct memc_seen *seen, const struct memc_op *one)
{
	if (one->answer == MEMC_MINE || !one->item.owner[0] ||
	    one->item.limit == one->request->limit ||
	    dlki_memc_limit_is_set(dlki_memc_mark_limit(&seen->mark)) ||
	    dlki_memc_limit_is_set(seen->limit))
		return;
	seen->limit = one->item.limit;
}

static void note_slot(struct memc_seen *seen, const struct memc_op *one)
{
	seen->n_taken += !seen->taken[one->slot];
	seen->taken[one->slot] = 1;
	note_limit(seen, one);
	if (one->answer == MEMC_MINE) {
		seen->mine = one->slot;
		seen->own = *one;
		seen->n_mine++;
	} else {
		memcpy(seen->other, one->item.owner, sizeof(seen->other));
	}
}

static void note_item(struct memc_store *s, struct memc_job *job,
		      const struct memc_op *one)
{
	struct memc_seen *seen = job->seen;

	dlki_memc_job_note_foreign(s, job, one);
	if (one->slot == MEMC_MARK) {
		seen->mark = *one;
	} else if (one->answer == MEMC_MISSING) {
		return;
	} else if (one->slot == MEMC_GATE) {
		seen->gate_mine = one->answer == MEMC_MINE;
		seen->gate_taken = !seen->gate_mine;
		seen->gate_cas = one->item.cas;
	} else {
		note_slot(seen, one);
	}
}

void dlki_memc_see(struct memc_store *s, struct memc_job *job,
		   struct dlki_op *op, memc_then *after)
{
	const struct memc_asked *asked = dlki_memc_asked(op);
	int end = dlki_memc_slots(op->request);

	if (!job->seen)
		job->seen = malloc(sizeof(*job->seen));
	if (!job->seen) {
		dlki_memc_end_nomem(job, op);
		return;
	}
	memset(job->seen, 0, sizeof(*job->seen));
	job->seen->mine = -1;
	job->each = note_item;
	if (asked && end < asked->claim.most)
		end = asked->claim.most;
	dlki_memc_job_survey(s, job, op, MEMC_MARK, end, after);
}

/* ---- The valid limit ----------------------------------------------------- */

static void end_count(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	claim->limit = job->seen->counts;
	if (claim->most < job->seen->most)
		claim->most = job->seen->most;
	job->counted(s, job, op);
}

static void swap_mark(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op, struct memc_op one, memc_then *then)
{
	dlki_memc_job_clear(job);
	job->ops[job->n++] = one;
	dlki_memc_job_send(s, job, op, then);
}

static void change_mark(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op, uint32_t limit, memc_then *then)
{
	swap_mark(s, job, op,
		  dlki_memc_mark_change(op->request, &job->seen->mark, limit),
		  then);
}

static void mark_changed(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;

	seen->mark = job->ops[0];
	seen->again = seen->mark.answer != MEMC_DONE;
	end_count(s, job, op);
}

/* Does the mark with the valid limit have slots beyond the permits, and are
 * these empty? */
static int is_too_wide(const struct memc_seen *seen)
{
	int permits = (int)dlki_memc_limit_permits(seen->counts);

	return seen->limit == 0 &&
	       dlki_memc_mark_limit(&seen->mark) == seen->counts &&
	       dlki_memc_mark_slots(&seen->mark) > permits &&
	       !memchr(seen->taken + permits, 1,
		       (size_t)(seen->most - permits));
}

/* Leave empty slots beyond the permits out of the mark. */
static void settle(struct memc_store *s, struct memc_job *job,
		   struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;
	int permits = (int)dlki_memc_limit_permits(seen->counts);

	if (!is_too_wide(seen)) {
		end_count(s, job, op);
		return;
	}
	if (dlki_memc_limit_is_set(seen->counts))
		seen->counts = dlki_memc_limit_set(permits, permits);
	swap_mark(s, job, op,
		  dlki_memc_mark_narrow(op->request, &seen->mark, seen->counts),
		  mark_changed);
}

static void slots_seen_again(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	if (job->seen->limit != 0)
		change_mark(s, job, op, job->seen->their_limit, mark_changed);
	else
		settle(s, job, op);
}

static void mark_corrected(struct memc_store *s, struct memc_job *job,
			   struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;

	if (job->ops[0].answer != MEMC_DONE) {
		mark_changed(s, job, op);
		return;
	}
	seen->mark = job->ops[0];
	seen->n_taken = seen->n_mine = 0;
	seen->mine = -1;
	memset(seen->taken, 0, sizeof(seen->taken));
	dlki_memc_job_survey(s, job, op, 0, seen->most, slots_seen_again);
}

void dlki_memc_count(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;
	uint32_t ours = op->request->limit;
	uint32_t theirs = dlki_memc_mark_limit(&seen->mark);

	seen->most = job->places_end;
	seen->counts = ours;
	if (theirs == 0 && dlki_memc_limit_is_set(seen->limit)) {
		seen->counts = seen->limit; /* the mark was evicted */
		seen->limit = 0;
	}
	if (dlki_memc_limit_is_set(theirs) && seen->n_taken > seen->n_mine) {
		seen->counts = theirs;
	} else if (theirs != 0 && theirs != ours && seen->limit == 0) {
		seen->their_limit = theirs;
		change_mark(s, job, op, ours, mark_corrected);
		return;
	}
	settle(s, job, op);
}
