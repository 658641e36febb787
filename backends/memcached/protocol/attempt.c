/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts, and the attempts of writers: the gate.
 *
 * A writer first takes the gate of a lock and then gets the mark.  Without a
 * mark there are no readers, and the writer has the lock.  With a mark the
 * writer gets the slots as well, and stays at the gate, keeping new readers
 * out, until the slots are empty.  Readers and semaphores: slot.c.
 */
#include "backends/memcached/protocol/store.h"

static void take_gate(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op);

/* ---- The readers --------------------------------------------------------- */

static void note_reader(struct memc_store *s, struct memc_job *job,
			const struct memc_op *op)
{
	dlki_memc_job_note_foreign(s, job, op);
	job->readers |= op->answer != MEMC_MISSING;
}

static void end_writer(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	if (job->readers)
		dlki_memc_end_busy(s, job, op);
	else
		dlki_memc_end_granted(job, op);
}

static void slots_seen(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	dlki_memc_job_confirm(s, job, op, end_writer);
}

/* Look for readers; the gate is ours. */
static void look_for_readers(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	const struct dlk_request *request = op->request;

	job->lease_from = job->since;
	if (job->n == 1 || job->ops[1].answer == MEMC_MISSING)
		end_writer(s, job, op);
	else
		dlki_memc_job_survey(s, job, op, 0, dlki_memc_slots(request),
				     slots_seen);
}

/* ---- The gate ------------------------------------------------------------ */

static void gate_answered(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	const struct memc_op *gate = &job->ops[0];

	switch (gate->answer) {
	case MEMC_DONE:
		dlki_memc_claim_accept(claim, &s->run, gate);
		look_for_readers(s, job, op);
		return;
	case MEMC_MINE: /* from before: the lease must begin anew */
		dlki_memc_claim_accept(claim, &s->run, gate);
		break;
	case MEMC_OTHER:
		claim->owned = MEMC_NOTHING;
		dlki_memc_job_note_foreign(s, job, gate);
		if (dlki_memc_claim_wishes(claim, gate->item.owner, s->now))
			dlki_memc_wish(s, job, op, gate->item.owner,
				       dlki_memc_end_busy);
		else
			dlki_memc_end_busy(s, job, op);
		return;
	default:
		claim->owned = MEMC_NOTHING;
		break;
	}
	if (++job->rounds < MEMC_ROUNDS)
		take_gate(s, job, op);
	else
		dlki_memc_end_busy(s, job, op);
}

/* Take the gate.  A writer already at the gate waits for empty slots, and needs
 * no mark. */
static void take_gate(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	int known = claim->owned == MEMC_AT_GATE &&
		    dlki_memc_claim_is_here(claim, &s->run);

	dlki_memc_job_clear(job);
	job->readers = 0;
	job->ops[0] = dlki_memc_op(known ? MEMC_SWAP : MEMC_ADD, op->request,
				   MEMC_GATE);
	job->ops[0].cas = claim->cas;
	job->ops[0].token = known ? claim->token : 0;
	job->ops[0].add = known ? 0 : ++claim->adds;
	job->n = 1;
	if (known) {
		job->to = dlki_memc_slots(op->request);
	} else {
		job->ops[job->n++] = dlki_memc_op(MEMC_GET, op->request,
						  MEMC_MARK);
		dlki_memc_job_check_pool(s, job, op->request);
	}
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

	if (request->mode == DLK_SHARED && request->limit > MEMC_PERMITS) {
		dlk_fail(&err, DLOCK_ENOTSUP, MEMC_TOO_MANY, request->name,
			 MEMC_PERMITS, (unsigned int)request->limit);
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
	    !op->is_last &&
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
	char peer[DLKI_PEER];

	if (s->now >= s->run.grants_from) {
		ask(s, job, op);
		return;
	}
	dlki_peer(s->link, peer);
	dlk_fail(&err, DLOCK_EUNREACHABLE, MEMC_IS_YOUNG, peer);
	fail_unasked(op, &dlki_memc_asked(op)->claim, &err);
	dlki_memc_job_free(job);
}

void dlki_memc_store_attempt(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job;

	if (!may_ask(s, op))
		return;
	job = dlki_memc_job_new(op);
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
