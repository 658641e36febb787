/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts, and the attempts of writers: the gate.
 *
 * A writer first takes the gate of a lock and then gets the mark.  Without a
 * mark there are no readers, and the writer has the lock.  With a mark the
 * writer gets the slots, and then stores the item at the gate once more.  The
 * writer has the lock if the slots were empty and the item was still there.
 * Else the writer stays at the gate, keeping new readers out.  Readers and
 * semaphores: slot.c.
 *
 * An upgrade is a writer that leaves the slot of its reader aside, and that
 * takes the gate from another writer that waits there.  Such a writer has found
 * the mark, and has stored the item once more.  The upgrade reads the item at
 * the gate, and then the reader's slot.  If the slot is taken, the other writer
 * has not found the slots empty, and does not have the lock by that item.  To
 * get the lock the writer stores the item once more, and then the upgrade's
 * swap of the item that was read misses.
 */
#include <string.h>

#include "backends/memcached/protocol/store.h"

static void take_gate(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op);
static void gate_answered(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op);
static void gate_missed(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op);

static const struct memc_op *gate_of(const struct memc_job *job)
{
	const struct memc_op *op = job->ops;

	while (op->slot != MEMC_GATE)
		op++;
	return op;
}

/* Store the item at the gate again, which is ours. */
static struct memc_op known_gate(const struct dlki_op *op)
{
	const struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	struct memc_op gate = dlki_memc_op(MEMC_SWAP, op->request, MEMC_GATE);

	gate.cas = claim->cas;
	gate.token = claim->token;
	return gate;
}

/* ---- The readers --------------------------------------------------------- */

static void note_reader(struct memc_store *s, struct memc_job *job,
			const struct memc_op *op)
{
	const char *beside = op->request->beside;

	dlki_memc_job_note_foreign(s, job, op);
	if (op->answer == MEMC_MISSING)
		return;
	if (beside && strcmp(op->item.owner, beside) == 0)
		job->beside_stands = 1;
	else
		job->readers = 1;
}

static void end_upgrade(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	if (job->ops[0].answer != MEMC_DONE) {
		gate_missed(s, job, op);
		return;
	}
	dlki_memc_claim_own(&dlki_memc_asked(op)->claim, &s->run, &job->ops[0]);
	job->lease_from = job->since;
	dlki_memc_end_granted(job, op);
}

/* Say in the item that the upgrade has the lock: the reader's slot, which stays
 * taken, would make it look like a waiter. */
static void tell_upgrade(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	dlki_memc_job_clear(job);
	job->ops[0] = known_gate(op);
	job->ops[0].has_lock = 1;
	job->n = 1;
	dlki_memc_job_send(s, job, op, end_upgrade);
}

static void slots_answered(struct memc_store *s, struct memc_job *job,
			   struct dlki_op *op)
{
	const struct memc_op *gate = gate_of(job);

	job->readers = job->beside_stands = 0;
	for (size_t i = 0; &job->ops[i] != gate; i++)
		note_reader(s, job, &job->ops[i]);
	if (gate->answer != MEMC_DONE) {
		gate_missed(s, job, op);
		return;
	}
	dlki_memc_claim_own(&dlki_memc_asked(op)->claim, &s->run, gate);
	job->lease_from = job->since;
	if (job->readers)
		dlki_memc_end_busy(s, job, op);
	else if (op->request->beside)
		tell_upgrade(s, job, op);
	else
		dlki_memc_end_granted(job, op);
}

/* Look for readers, and then store the item at the gate, which is ours, once
 * more. */
static void look_for_readers(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	const struct dlk_request *request = op->request;

	dlki_memc_job_clear(job);
	for (int i = 0; i < dlki_memc_slots(request); i++) {
		if (!dlki_memc_job_add(job, op,
				       dlki_memc_op(MEMC_GET, request, i)))
			return;
	}
	if (dlki_memc_job_add(job, op, known_gate(op)))
		dlki_memc_job_send(s, job, op, slots_answered);
}

/* ---- An upgrade ---------------------------------------------------------- */

static void overtake(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	if (!job->beside_stands) {
		dlki_memc_end_busy(s, job, op);
		return;
	}
	dlki_memc_job_clear(job);
	job->ops[0] = dlki_memc_op(MEMC_SWAP, op->request, MEMC_GATE);
	job->ops[0].cas = job->gate_cas;
	job->ops[0].add = ++dlki_memc_asked(op)->claim.adds;
	job->n = 1;
	dlki_memc_job_send(s, job, op, gate_answered);
}

/* May the upgrade take the gate from this writer?  Only from a writer that has
 * stored the item again, to look for readers.  By the first form of the item a
 * writer may have the lock, if the server has evicted the mark. */
static int may_overtake(struct memc_job *job, const struct dlki_op *op,
			const struct memc_op *gate)
{
	return op->request->beside && gate->item.limit == MEMC_YIELDS &&
	       gate->item.add == 0 && ++job->rounds < MEMC_ROUNDS;
}

/* ---- The gate ------------------------------------------------------------ */

/* Another owner is at the gate. */
static void gate_taken(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op, const struct memc_op *gate)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	claim->owned = MEMC_NOTHING;
	dlki_memc_job_note_foreign(s, job, gate);
	if (may_overtake(job, op, gate)) {
		job->gate_cas = gate->item.cas;
		job->beside_stands = 0;
		dlki_memc_job_survey(s, job, op, 0,
				     dlki_memc_slots(op->request), overtake);
	} else if (dlki_memc_claim_wishes(claim, gate->item.owner, s->now)) {
		dlki_memc_wish(s, job, op, gate->item.owner,
			       dlki_memc_end_busy);
	} else {
		dlki_memc_end_busy(s, job, op);
	}
}

/* The item at the gate is not as the request would have stored it. */
static void gate_missed(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	const struct memc_op *gate = gate_of(job);

	if (gate->answer == MEMC_OTHER) {
		gate_taken(s, job, op, gate);
		return;
	}
	if (gate->answer == MEMC_MINE) /* from before, or moved */
		dlki_memc_claim_accept(claim, &s->run, gate);
	else
		claim->owned = MEMC_NOTHING;
	if (++job->rounds < MEMC_ROUNDS)
		take_gate(s, job, op);
	else
		dlki_memc_end_busy(s, job, op);
}

static void gate_answered(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op)
{
	const struct memc_op *gate = gate_of(job), *mark = &job->ops[1];

	if (gate->answer != MEMC_DONE) {
		gate_missed(s, job, op);
		return;
	}
	dlki_memc_claim_accept(&dlki_memc_asked(op)->claim, &s->run, gate);
	job->lease_from = job->since;
	if (job->n > 1 && mark->answer == MEMC_MISSING)
		dlki_memc_end_granted(job, op);
	else
		look_for_readers(s, job, op);
}

/* Take the gate.  A writer already at the gate waits for empty slots, and needs
 * no mark. */
static void take_gate(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	if (claim->owned == MEMC_AT_GATE && claim->epoch == s->run.epoch) {
		look_for_readers(s, job, op);
		return;
	}
	dlki_memc_job_clear(job);
	job->ops[0] = dlki_memc_op(MEMC_ADD, op->request, MEMC_GATE);
	job->ops[0].add = ++claim->adds;
	job->ops[1] = dlki_memc_op(MEMC_GET, op->request, MEMC_MARK);
	job->n = 2;
	dlki_memc_job_check_pool(s, job, op->request);
	dlki_memc_job_send(s, job, op, gate_answered);
}

/* ---- An attempt ---------------------------------------------------------- */

static void fail_unasked(struct dlki_op *op, const struct memc_claim *claim,
			 const struct dlk_error *err)
{
	int clean = !claim->unclear && claim->owned == MEMC_NOTHING;

	dlki_failed(op, err, clean ? DLKI_RESIDUE_NONE : DLKI_RESIDUE_MAYBE);
}

/* May the attempt send a request?  0: the op has ended. */
static int may_ask(struct memc_store *s, struct dlki_op *op)
{
	const struct dlk_request *request = op->request;
	struct memc_asked *asked = dlki_memc_asked(op);
	struct memc_claim *claim = &asked->claim;
	struct dlk_error err;

	if (dlki_memc_is_too_many(request, &err)) {
		fail_unasked(op, claim, &err);
		return 0;
	}
	if (asked->released && op->requests > 0) {
		dlki_busy(op, 0, 0); /* held until the release came */
		return 0;
	}
	asked->released = 0;
	if (asked->number == 0)
		asked->number = ++s->claims;
	if (claim->asked && claim->owned == MEMC_NOTHING && !claim->unclear &&
	    !op->is_last && !request->beside &&
	    dlki_memc_looks_busy(&s->looks, request, asked->number, op->id,
				 s->pauses.max_ms, s->now)) {
		dlki_busy(op, 0, 0);
		return 0;
	}
	claim->asked = 1;
	return 1;
}

static void ask(struct memc_store *s, struct memc_job *job, struct dlki_op *op)
{
	if (op->request->mode == DLK_EXCLUSIVE)
		take_gate(s, job, op);
	else
		dlki_memc_enter_slot(s, job, op);
}

/* Ask, if the server is old enough by the answer.  The greeting may have come a
 * while ago. */
static void age_told(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	struct dlk_error err;

	if (s->now >= s->run.grants_from) {
		ask(s, job, op);
		return;
	}
	dlki_peer_fail(s->link, &err, DLOCK_EUNREACHABLE, MEMC_IS_YOUNG);
	fail_unasked(op, &dlki_memc_asked(op)->claim, &err);
	dlki_memc_job_free(job);
}

void dlki_memc_store_attempt(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job;

	if (!may_ask(s, op))
		return;
	job = dlki_memc_job_new(s, op);
	if (!job)
		return;
	job->each = note_reader;
	if (s->now >= s->run.grants_from) {
		ask(s, job, op);
		return;
	}
	job->asks = 1;
	dlki_memc_job_send(s, job, op, age_told);
}
