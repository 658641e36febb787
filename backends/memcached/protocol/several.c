/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts for several permits of a semaphore.
 *
 * The claim takes a slot for each permit, all by the same add, so a client that
 * knows only single permits counts right.  The claim first gets the slots, and
 * takes some if enough are empty.  If another client takes one of these in
 * between, the claim gives all of them back.
 *
 * The first such claim that waits is at the gate of the semaphore.  Other
 * claims, which get the gate with the slots, wait behind.  The gate excludes no
 * client: the slots do.
 */
#include "backends/memcached/protocol/limit.h"
#include "backends/memcached/protocol/store.h"

/* A request has these, the mark twice, and the pool's digest. */
enum { ADDS = MEMC_BATCH_MAX - 3 };

static void add_some(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op);
static void leave_gate(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op);

/* ---- The gate ------------------------------------------------------------ */

static void gate_answered(struct memc_store *s, struct memc_job *job,
			  struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	const struct memc_op *gate = &job->ops[0];

	claim->owned = MEMC_NOTHING;
	if (gate->answer == MEMC_DONE || gate->answer == MEMC_MINE)
		dlki_memc_claim_own(claim, &s->run, gate);
	dlki_memc_job_note_foreign(s, job, gate);
	dlki_memc_end_busy(s, job, op);
}

/* Wait: at the gate, if no other claim is there, and if this is not the last
 * attempt. */
static void wait_at_gate(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	const struct memc_seen *seen = job->seen;
	struct memc_op *gate = &job->ops[0];

	if (seen->gate_taken || op->is_last) {
		dlki_memc_end_busy(s, job, op);
		return;
	}
	dlki_memc_job_clear(job);
	*gate = dlki_memc_op(seen->gate_mine ? MEMC_SWAP : MEMC_ADD,
			     op->request, MEMC_GATE);
	gate->cas = seen->gate_cas;
	gate->token = op->request->permits;
	job->n = 1;
	dlki_memc_job_send(s, job, op, gate_answered);
}

/* ---- The claim gives slots back ------------------------------------------ */

static void note_dropped(const struct memc_job *job, struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	claim->owned = job->seen->gate_mine ? MEMC_AT_GATE : MEMC_NOTHING;
	claim->slot = MEMC_GATE;
	claim->cas = job->seen->gate_cas;
}

static void leftovers_dropped(struct memc_store *s, struct memc_job *job,
			      struct dlki_op *op)
{
	note_dropped(job, op);
	job->again(s, job, op);
}

static void part_dropped(struct memc_store *s, struct memc_job *job,
			 struct dlki_op *op)
{
	note_dropped(job, op);
	if (job->seen->limit != 0 || job->seen->again)
		job->over(s, job, op);
	else
		wait_at_gate(s, job, op);
}

static void drop_all(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op, memc_then *then)
{
	job->swept = then;
	dlki_memc_sweep(s, job, op);
}

/* ---- Granted ------------------------------------------------------------- */

static void gate_seen(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	job->seen->gate_cas = job->ops[0].item.cas;
	if (job->ops[0].answer == MEMC_MINE && ++job->rounds < MEMC_ROUNDS)
		leave_gate(s, job, op);
	else
		dlki_memc_end_granted(job, op);
}

static void gate_left(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	if (job->ops[0].answer != MEMC_OTHER) {
		dlki_memc_end_granted(job, op);
		return;
	}
	/* The server moved the item. */
	dlki_memc_job_clear(job);
	job->ops[job->n++] = dlki_memc_op(MEMC_GET, op->request, MEMC_GATE);
	dlki_memc_job_send(s, job, op, gate_seen);
}

static void leave_gate(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	dlki_memc_job_clear(job);
	job->ops[job->n] = dlki_memc_op(MEMC_DROP, op->request, MEMC_GATE);
	job->ops[job->n++].cas = job->seen->gate_cas;
	dlki_memc_job_send(s, job, op, gate_left);
}

/* ---- The claim takes slots ----------------------------------------------- */

/* The token is the largest, of the last add. */
static void note_got(struct memc_store *s, const struct memc_job *job,
		     struct dlki_op *op, const struct memc_op *one)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	uint64_t token = job->seen->got++ > 0 ? claim->token : 0;

	dlki_memc_claim_accept(claim, &s->run, one);
	if (claim->token < token)
		claim->token = token;
}

static void note_missed(struct memc_store *s, struct memc_job *job,
			const struct dlki_op *op, const struct memc_op *one)
{
	job->seen->missed = 1;
	dlki_memc_job_note_foreign(s, job, one);
	if (one->answer == MEMC_OTHER && one->item.owner[0] &&
	    job->seen->counts == op->request->limit &&
	    one->item.limit != op->request->limit)
		job->seen->limit = one->item.limit;
}

static void added(struct memc_store *s, struct memc_job *job,
		  struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;
	size_t i;

	if (seen->got == 0)
		job->lease_from = job->since;
	for (i = 1; job->ops[i].slot >= 0; i++) {
		if (job->ops[i].answer == MEMC_DONE)
			note_got(s, job, op, &job->ops[i]);
		else
			note_missed(s, job, op, &job->ops[i]);
	}
	seen->again = !dlki_memc_mark_stays(&seen->mark, seen->counts,
					    &job->ops[i]) ||
		      !dlki_memc_mark_lasts(&s->run, &job->ops[i], s->now);
	seen->mark = job->ops[i];
	if (seen->missed || seen->again)
		drop_all(s, job, op, part_dropped);
	else if (seen->got < op->request->permits)
		add_some(s, job, op);
	else if (seen->gate_mine)
		leave_gate(s, job, op);
	else
		dlki_memc_end_granted(job, op);
}

/* Make sure of the mark, take slots, and get the mark again: see slot.c. */
static void add_some(struct memc_store *s, struct memc_job *job,
		     struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;
	struct memc_seen *seen = job->seen;
	uint32_t left = op->request->permits - seen->got;
	struct memc_op one = dlki_memc_mark_op(&s->run, claim, op->request,
					       &seen->mark, s->now);

	dlki_memc_job_clear(job);
	if (!dlki_memc_job_add(job, op, one))
		return;
	for (int n = 0; left > 0 && n < ADDS; seen->tried++) {
		if (seen->taken[seen->tried])
			continue;
		one = dlki_memc_op(MEMC_ADD, op->request, seen->tried);
		one.add = seen->add;
		one.limit = seen->counts;
		if (!dlki_memc_job_add(job, op, one))
			return;
		left--;
		n++;
	}
	one = dlki_memc_op(MEMC_GET, op->request, MEMC_MARK);
	for (int i = 0; i < 2; i++) /* the second makes room for the digest */
		if (!dlki_memc_job_add(job, op, one))
			return;
	job->n--;
	dlki_memc_job_check_pool(s, job, op->request);
	dlki_memc_job_send(s, job, op, added);
}

void dlki_memc_enter_several(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	struct memc_seen *seen = job->seen;
	uint32_t all = dlki_memc_limit_permits(seen->counts);

	if (seen->mine >= 0) { /* from before: a reply was lost */
		drop_all(s, job, op, leftovers_dropped);
		return;
	}
	if (seen->gate_taken ||
	    (uint32_t)seen->n_taken + op->request->permits > all) {
		wait_at_gate(s, job, op);
		return;
	}
	seen->add = ++dlki_memc_asked(op)->claim.adds;
	seen->tried = 0;
	add_some(s, job, op);
}
