/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acquiring a slot: a reader's, or a permit of a semaphore.
 *
 * A reader first makes sure of the mark, then takes a slot and then gets the
 * gate.  If there is an owner at the gate, the reader removes the item from the
 * slot again.  A semaphore has slots, and a mark with their number.
 */
#include "backends/memcached/protocol/limit.h"
#include "backends/memcached/protocol/store.h"
#include "core/base/error.h"

static void try_next(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op);

static int is_semaphore(const struct dlki_op *op)
{
	return op->request->kind == DLK_SEMAPHORE;
}

/* ---- Ends ---------------------------------------------------------------- */

static void fail_other_limit(struct memc_job *job, struct dlki_op *op,
			     uint32_t limit)
{
	struct dlk_error err;

	dlki_other_limit(&err, op->request, limit);
	dlki_memc_end_failed(job, op, &err);
}

static void begin_again(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	if (++job->rounds < MEMC_ROUNDS)
		dlki_memc_enter_slot(s, job, op);
	else
		dlki_memc_end_busy(s, job, op);
}

/* End a round that did not bring a slot. */
static void end_round(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	const struct memc_seen *seen = job->seen;

	if (seen->limit != 0 && !dlki_memc_limit_is_set(seen->limit))
		fail_other_limit(job, op, seen->limit);
	else if (seen->limit != 0 || seen->again)
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

/* Did a client with another limit come before us?  Or may the mark go before we
 * do? */
static int is_permit_blocked(struct memc_store *s, struct memc_job *job)
{
	struct memc_seen *seen = job->seen;
	const struct memc_op *mark = &job->ops[2];

	seen->again = !dlki_memc_mark_stays(&seen->mark, seen->counts, mark) ||
		      !dlki_memc_mark_lasts(&s->run, mark, s->now);
	return seen->again;
}

static void entered(struct memc_store *s, struct memc_job *job,
		    struct dlki_op *op)
{
	const struct memc_op *own = &job->ops[1];

	if (own->answer == MEMC_OTHER || own->answer == MEMC_MISSING) {
		job->each(s, job, own);
		if (job->seen->limit != 0)
			end_round(s, job, op);
		else
			try_next(s, job, op);
		return;
	}
	dlki_memc_claim_accept(&dlki_memc_asked(op)->claim, &s->run, own);
	job->lease_from = job->since;
	if (is_semaphore(op) ? is_permit_blocked(s, job) :
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

static int permits_of(const struct memc_job *job, const struct dlki_op *op)
{
	return is_semaphore(op) ?
		       (int)dlki_memc_limit_permits(job->seen->counts) :
		       MEMC_READERS;
}

/* Try the next slot that may be free; a claim with a slot tries no other.  A
 * permit takes the first free slot: if other claims take or leave slots
 * meanwhile, there are no more in front of it, and no more behind it. */
static void try_next(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;
	int slots = permits_of(job, op);
	int first = dlki_memc_first_slot(op->request);
	struct memc_op one;

	while (seen->mine < 0 && seen->n_taken < slots && seen->tried < slots) {
		int slot = (first + seen->tried++) % slots;

		if (seen->taken[slot])
			continue;
		one = dlki_memc_op(MEMC_ADD, op->request, slot);
		one.add = ++dlki_memc_asked(op)->claim.adds;
		one.limit = seen->counts;
		enter(s, job, op, one);
		return;
	}
	end_round(s, job, op);
}

/* Has the number of permits become too small for our slot?  All slots in front
 * of it may be taken meanwhile. */
static int is_beyond(const struct memc_job *job, const struct dlki_op *op)
{
	const struct memc_seen *seen = job->seen;
	int n = seen->mine + 1;

	for (int i = n; i < seen->most; i++)
		n += seen->taken[i];
	return is_semaphore(op) && n > permits_of(job, op);
}

/* Take the slot again that a lost reply left us, so that the lease begins anew.
 * If a writer has come, which waits for the slot, remove the item instead. */
static void enter_again(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	struct memc_op own = job->seen->own;

	dlki_memc_claim_accept(&dlki_memc_asked(op)->claim, &s->run, &own);
	job->seen->again = is_beyond(job, op);
	if (job->seen->again || (job->seen->gate_taken && !is_semaphore(op))) {
		drop_own(s, job, op);
		return;
	}
	own.verb = MEMC_SWAP;
	own.cas = own.item.cas;
	own.token = own.item.token;
	own.limit = job->seen->counts;
	enter(s, job, op, own);
}

/* ---- A round ------------------------------------------------------------- */

static void go_on(struct memc_store *s, struct memc_job *job,
		  struct dlki_op *op)
{
	const struct memc_seen *seen = job->seen;
	uint32_t permits = dlki_memc_limit_permits(seen->counts);
	int is_foreign = seen->mark.answer != MEMC_MISSING &&
			 !seen->mark.item.owner[0];

	if (seen->limit != 0 || seen->again || is_foreign)
		end_round(s, job, op);
	else if (is_semaphore(op) && op->request->permits > permits)
		fail_other_limit(job, op, permits);
	else if (dlki_memc_several(op->request))
		dlki_memc_enter_several(s, job, op);
	else if (seen->mine >= 0)
		enter_again(s, job, op);
	else if (seen->gate_taken)
		end_round(s, job, op);
	else
		try_next(s, job, op);
}

static void surveyed(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	if (is_semaphore(op))
		dlki_memc_count(s, job, op);
	else
		go_on(s, job, op);
}

void dlki_memc_enter_slot(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op)
{
	job->over = end_round;
	job->again = begin_again;
	job->counted = go_on;
	dlki_memc_see(s, job, op, surveyed);
}
