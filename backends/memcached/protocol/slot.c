/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquiring a slot: a reader's, or a permit of a semaphore.
 *
 * A reader first makes sure of the mark, then takes a slot and then gets the
 * gate.  If there is an owner at the gate, the reader removes the item from the
 * slot again.  A semaphore has slots, and a mark with their number.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/memcached/protocol/store.h"

static void survey_again(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op);
static void try_next(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op);

static int is_semaphore(const struct dlki_op *op)
{
	return op->request->kind == DLK_SEMAPHORE;
}

static void note_item(struct memc_store *s, struct memc_job *job,
		      const struct memc_op *one)
{
	struct memc_seen *seen = job->seen;

	dlki_memc_job_note_foreign(s, job, one);
	if (one->slot == MEMC_MARK) {
		seen->mark = *one;
		return;
	}
	if (one->answer == MEMC_MISSING)
		return;
	if (one->slot == MEMC_GATE) {
		seen->gate_mine = one->answer == MEMC_MINE;
		seen->gate_taken = !seen->gate_mine;
		seen->gate_cas = one->item.cas;
		return;
	}
	seen->taken[one->slot] = 1;
	if (one->item.owner[0] && one->item.limit != one->request->limit)
		seen->limit = one->item.limit;
	if (one->answer == MEMC_MINE) {
		seen->mine = one->slot;
		seen->own = *one;
	}
}

/* ---- Ends ---------------------------------------------------------------- */

static void fail_other_limit(struct memc_job *job, struct dlki_op *op)
{
	const struct dlk_request *request = op->request;
	struct dlk_error err;

	dlk_fail(&err, DLOCK_EINVAL, MEMC_OTHER_LIMIT, request->name,
		 (unsigned int)job->seen->limit, (unsigned int)request->limit);
	dlki_memc_end_failed(job, op, &err);
}

static void begin_again(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	if (++job->rounds < MEMC_ROUNDS)
		survey_again(s, job, op);
	else
		dlki_memc_end_busy(s, job, op);
}

/* End a round that did not bring a slot. */
static void end_round(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	if (job->seen->limit != 0)
		fail_other_limit(job, op);
	else if (job->seen->again)
		begin_again(s, job, op);
	else
		dlki_memc_end_busy(s, job, op);
}

static void own_dropped(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	claim->owned = MEMC_NOTHING;
	if (job->ops[0].answer == MEMC_OTHER)
		job->unclear = claim->unclear = 1; /* moved: another cas */
	end_round(s, job, op);
}

static void drop_own(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	const struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	dlki_memc_job_clear(job);
	job->ops[job->n++] = dlki_memc_op(MEMC_DROP, op->request, claim->slot);
	job->ops[0].cas = claim->cas;
	dlki_memc_job_send(s, job, op, own_dropped);
}

/* ---- A slot -------------------------------------------------------------- */

/* Did a writer at the gate come before us?  Or may the mark, which was made
 * sure of before the gate was got, go before we do? */
static int is_reader_blocked(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	const struct memc_op *mark = &job->ops[0], *gate = &job->ops[2];

	dlki_memc_job_note_foreign(s, job, gate);
	if (gate->answer != MEMC_MISSING)
		return 1;
	job->seen->again = !dlki_memc_mark_lasts(&s->run, mark, s->now);
	dlki_memc_mark_keep(&dlki_memc_asked(op)->claim, mark);
	return job->seen->again;
}

/* Did a client with another number come before us? */
static int is_permit_blocked(struct memc_job *job, const struct dlki_op *op)
{
	job->seen->mark = job->ops[2];
	job->seen->again = dlki_memc_mark_differs(op->request, &job->ops[2]);
	return job->seen->again;
}

static void entered(struct memc_store *s, struct memc_job *job,
		    struct dlki_op *op)
{
	const struct memc_op *own = &job->ops[1];

	if (own->answer == MEMC_OTHER || own->answer == MEMC_MISSING) {
		note_item(s, job, own);
		if (job->seen->limit != 0)
			fail_other_limit(job, op);
		else
			try_next(s, job, op);
		return;
	}
	dlki_memc_claim_accept(&dlki_memc_asked(op)->claim, &s->run, own);
	job->lease_from = job->since;
	if (is_semaphore(op) ? is_permit_blocked(job, op) :
			       is_reader_blocked(s, job, op))
		drop_own(s, job, op);
	else if (own->answer == MEMC_DONE)
		dlki_memc_end_granted(job, op);
	else
		end_round(s, job, op);
}

/* Enter: make sure of the mark, take the slot, then get the gate or the mark:
 * others may have come meanwhile. */
static void enter(struct memc_store *s, struct memc_job *job,
		  struct dlki_op *op, struct memc_op one)
{
	int check = is_semaphore(op) ? MEMC_MARK : MEMC_GATE;

	dlki_memc_job_clear(job);
	job->ops[0] = dlki_memc_mark_op(&s->run, &dlki_memc_asked(op)->claim,
					op->request, &job->seen->mark, s->now);
	job->ops[1] = one;
	job->ops[2] = dlki_memc_op(MEMC_GET, op->request, check);
	job->n = 3;
	dlki_memc_job_check_pool(s, job, op->request);
	dlki_memc_job_send(s, job, op, entered);
}

/* Try the next slot that may be free; a claim with a slot tries no other. */
static void try_next(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;
	int slots = dlki_memc_slots(op->request);
	int first = dlki_memc_first_slot(op->request);
	struct memc_op one;

	while (seen->mine < 0 && seen->tried < slots) {
		int slot = (first + seen->tried++) % slots;

		if (seen->taken[slot])
			continue;
		one = dlki_memc_op(MEMC_ADD, op->request, slot);
		one.add = ++dlki_memc_asked(op)->claim.adds;
		enter(s, job, op, one);
		return;
	}
	end_round(s, job, op);
}

/* Take the slot again that a lost reply left us, so that the lease begins anew.
 * If a writer has come, which waits for the slot, remove the item instead. */
static void enter_again(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	struct memc_op own = job->seen->own;

	dlki_memc_claim_accept(&dlki_memc_asked(op)->claim, &s->run, &own);
	if (job->seen->gate_taken && !is_semaphore(op)) {
		drop_own(s, job, op);
		return;
	}
	own.verb = MEMC_SWAP;
	own.cas = own.item.cas;
	own.token = own.item.token;
	enter(s, job, op, own);
}

/* ---- A mark of another number -------------------------------------------- */

static void go_on(struct memc_store *s, struct memc_job *job,
		  struct dlki_op *op)
{
	const struct memc_seen *seen = job->seen;
	int is_foreign = seen->mark.answer != MEMC_MISSING &&
			 !seen->mark.item.owner[0];

	if (seen->limit != 0)
		fail_other_limit(job, op);
	else if (seen->again || is_foreign)
		end_round(s, job, op);
	else if (dlki_memc_several(op->request))
		dlki_memc_enter_several(s, job, op);
	else if (seen->mine >= 0)
		enter_again(s, job, op);
	else if (seen->gate_taken)
		end_round(s, job, op);
	else
		try_next(s, job, op);
}

static void swap_mark(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op, uint32_t limit, memc_then *then)
{
	const struct memc_op *mark = &job->seen->mark;
	struct memc_op one = dlki_memc_op(MEMC_SWAP, op->request, MEMC_MARK);

	one.cas = mark->item.cas;
	one.item = mark->item;
	one.item.limit = limit;
	dlki_memc_job_clear(job);
	job->ops[job->n++] = one;
	dlki_memc_job_send(s, job, op, then);
}

static void mark_taken_back(struct memc_store *s, struct memc_job *job,
			    struct dlki_op *op)
{
	job->seen->mark = job->ops[0];
	go_on(s, job, op);
}

static void slots_seen_again(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	if (job->seen->limit != 0)
		swap_mark(s, job, op, job->seen->their_limit, mark_taken_back);
	else
		go_on(s, job, op);
}

static void mark_swapped(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;

	seen->mark = job->ops[0];
	seen->again = seen->mark.answer != MEMC_DONE;
	if (seen->again)
		go_on(s, job, op);
	else
		dlki_memc_job_survey(s, job, op, 0, seen->most,
				     slots_seen_again);
}

static void slots_seen(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	if (job->seen->limit != 0)
		go_on(s, job, op);
	else
		swap_mark(s, job, op, op->request->limit, mark_swapped);
}

/*
 * Correct the mark, unless a slot is held for the mark's number.  The client
 * writes the new mark, and then gets the slots.  A client that takes a slot
 * gets the mark afterwards.  One of the two sees the other.
 */
static void correct_mark(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	struct dlk_request theirs = *op->request;
	struct memc_seen *seen = job->seen;

	theirs.limit = seen->their_limit = seen->mark.item.limit;
	seen->most = dlki_memc_slots(op->request);
	if (seen->most < dlki_memc_slots(&theirs))
		seen->most = dlki_memc_slots(&theirs);
	dlki_memc_job_survey(s, job, op, 0, seen->most, slots_seen);
}

/* ---- A round ------------------------------------------------------------- */

static void surveyed(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	const struct memc_seen *seen = job->seen;

	if (seen->limit == 0 && is_semaphore(op) &&
	    dlki_memc_mark_differs(op->request, &seen->mark))
		correct_mark(s, job, op);
	else
		go_on(s, job, op);
}

static void survey_again(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	memset(job->seen, 0, sizeof(*job->seen));
	job->seen->mine = -1;
	job->each = note_item;
	job->over = end_round;
	job->again = begin_again;
	dlki_memc_job_survey(s, job, op, MEMC_MARK,
			     dlki_memc_slots(op->request), surveyed);
}

void dlki_memc_enter_slot(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op)
{
	struct dlk_error err;

	job->seen = malloc(sizeof(*job->seen));
	if (!job->seen) {
		dlk_fail(&err, DLOCK_ENOMEM, "out of memory");
		dlki_memc_end_failed(job, op, &err);
		return;
	}
	survey_again(s, job, op);
}
