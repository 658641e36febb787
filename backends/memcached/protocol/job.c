/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: requests of a verb, one after the other.
 *
 * A stored item lives by the server's clock, by which a mark tells the end.  A
 * request reads the clock first, unless another request did so not long ago.
 *
 * A proxy that keeps our connection may lead it to another run of the server.
 * The other run stores our items under keys that no other client reads.  So a
 * stored item counts if our run was there a second before the answer, or is
 * there after it: a run grants no claim in the first second.
 *
 * If the server's clock stood still, the item may be gone early: the op is held
 * for a while and begins anew, and stores the item again.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backends/memcached/protocol/store.h"
#include "core/base/error.h"

#define NAP (20 * DLK_MS)

/* ---- A job --------------------------------------------------------------- */

struct memc_job *dlki_memc_job_new(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job = s->spare ? s->spare : malloc(sizeof(*job));
	struct dlk_error err;

	s->spare = NULL;
	if (!job) {
		dlki_nomem(&err);
		dlki_failed(op, &err,
			    op && op->requests > 0 ? DLKI_RESIDUE_MAYBE :
						     DLKI_RESIDUE_NONE);
		return NULL;
	}
	memset(job, 0, offsetof(struct memc_job, few));
	job->store = s;
	job->ops = job->few;
	job->room = MEMC_FEW;
	if (op)
		job->verb = op->verb;
	if (op && op->claim)
		job->unclear = dlki_memc_asked(op)->claim.unclear;
	return job;
}

void dlki_memc_job_free(struct memc_job *job)
{
	if (job->verb == DLKI_GREET)
		return;
	if (job->ops != job->few)
		free(job->ops);
	free(job->seen);
	free(job->own);
	free(job->found);
	free(job->store->spare);
	job->store->spare = job;
}

void dlki_memc_job_clear(struct memc_job *job)
{
	job->n = 0;
	job->from = job->to = 0;
}

struct memc_op *dlki_memc_job_add(struct memc_job *job, struct dlki_op *op,
				  struct memc_op one)
{
	if (job->n == job->room) {
		struct memc_op *v = calloc(MEMC_BATCH_MAX, sizeof(*v));

		if (!v) {
			dlki_memc_end_nomem(job, op);
			return NULL;
		}
		assert(job->room == MEMC_FEW);
		memcpy(v, job->ops, job->n * sizeof(*v));
		job->ops = v;
		job->room = MEMC_BATCH_MAX;
	}
	assert(job->n < job->room);
	job->ops[job->n] = one;
	return &job->ops[job->n++];
}

void dlki_memc_end_answered(struct memc_job *job, struct dlki_op *op, int stood)
{
	dlki_answered(op, stood);
	dlki_memc_job_free(job);
}

void dlki_memc_end_failed(struct memc_job *job, struct dlki_op *op,
			  const struct dlk_error *err)
{
	dlki_failed(op, err, DLKI_RESIDUE_MAYBE);
	dlki_memc_job_free(job);
}

void dlki_memc_end_nomem(struct memc_job *job, struct dlki_op *op)
{
	struct dlk_error err;

	dlki_nomem(&err);
	dlki_memc_end_failed(job, op, &err);
}

void dlki_memc_end_unreachable(struct memc_store *s, struct memc_job *job,
			       struct dlki_op *op, const char *fmt)
{
	struct dlk_error err;

	dlki_peer_fail(s->link, &err, DLOCK_EUNREACHABLE, fmt);
	dlki_memc_end_failed(job, op, &err);
}

/* ---- Sending ------------------------------------------------------------- */

static int needs_clock(const struct memc_job *job)
{
	if (job->part != MEMC_WHOLE)
		return 0;
	for (size_t i = 0; i < job->n; i++) {
		if (dlki_memc_op_is_store(&job->ops[i]) ||
		    job->ops[i].slot == MEMC_MARK)
			return 1;
	}
	return job->from <= MEMC_MARK && MEMC_MARK < job->to;
}

int dlki_memc_job_sends(const struct memc_job *job, const struct memc_op *one)
{
	return job->part == MEMC_WHOLE ||
	       (job->part == MEMC_FULL && one->verb == MEMC_DROP_META);
}

static void put_request(struct memc_store *s, const struct memc_job *job,
			const struct dlki_op *op)
{
	struct memc_out *out = &s->out;

	out->len = 0;
	if (job->login == MEMC_LOGIN_TOLD)
		dlki_memc_login_put(out, s->base.uri);
	if (job->asks)
		dlki_memc_put(out, "stats\r\n");
	if (job->tail == MEMC_TAIL_VERSION)
		dlki_memc_version_put(out, job->login != MEMC_NO_LOGIN);
	if (job->verb == DLKI_GREET && job->login != MEMC_LOGIN_ASKED) {
		dlki_memc_witness_put(out, s->base.uri, s->witness);
		if (s->run.digest)
			dlki_memc_op_put(out, &s->run, &job->ops[1]);
	}
	if (job->tail == MEMC_TAIL_MN)
		dlki_memc_put(out, "mn\r\n");
	if (!op || job->part == MEMC_STATS_ONLY)
		return;
	for (size_t i = 0; i < job->n; i++) {
		if (dlki_memc_job_sends(job, &job->ops[i]))
			dlki_memc_op_put(out, &s->run, &job->ops[i]);
	}
	for (int at = job->from; at < job->to; at++) {
		const struct memc_op get = dlki_memc_op(MEMC_GET, op->request,
							at);

		dlki_memc_op_put(out, &s->run, &get);
	}
}

/* Until the answer, the request may leave an item behind. */
static void mark_unclear(const struct memc_job *job, const struct dlki_op *op)
{
	struct memc_asked *asked = op ? dlki_memc_asked(op) : NULL;

	if (asked && (job->verb == DLKI_ATTEMPT || job->verb == DLKI_RELEASE))
		asked->claim.unclear = 1;
}

/* Also if the answer to an earlier request will have told so. */
static int will_be_fresh(const struct memc_store *s)
{
	struct memc_run then = s->run;

	if (s->asking > 0) {
		then.seen = s->asked;
		then.trusted = DLK_FOREVER;
	}
	return dlki_memc_run_is_fresh(&then, s->round_trip, s->now);
}

static void send_part(struct memc_store *s, struct memc_job *job,
		      struct dlki_op *op)
{
	job->asks |= needs_clock(job) && !will_be_fresh(s);
	if (job->asks)
		s->asked = s->now;
	job->stats = (struct memc_stats){ 0 };
	job->got_stats = 0;
	job->at = 0;
	job->at_place = job->from;
	job->said[0] = '\0';
	STAILQ_INSERT_TAIL(&s->jobs, job, in_jobs);
	s->asking += job->asks != 0;
	mark_unclear(job, op);
	put_request(s, job, op);
	dlki_send(s->link, job->verb, op, s->out.bytes, s->out.len);
	if (job->login != MEMC_NO_LOGIN) /* the bytes hold the password */
		explicit_bzero(s->out.bytes, s->out.len);
}

void dlki_memc_job_send(struct memc_store *s, struct memc_job *job,
			struct dlki_op *op, memc_then *then)
{
	job->then = then;
	job->part = MEMC_WHOLE;
	send_part(s, job, op);
}

void dlki_memc_job_confirm(struct memc_store *s, struct memc_job *job,
			   struct dlki_op *op, memc_then *then)
{
	if (dlki_memc_run_is_seen(&s->run, s->now)) {
		then(s, job, op);
		return;
	}
	dlki_memc_job_clear(job);
	job->asks = 1;
	dlki_memc_job_send(s, job, op, then);
}

/* ---- Answered ------------------------------------------------------------ */

/* The text protocol removes an item by storing another, for which there is no
 * memory.  The meta protocol needs none, and the server may speak it, too. */
static int drop_without_room(struct memc_store *s, struct memc_job *job,
			     struct dlki_op *op)
{
	if (job->part != MEMC_WHOLE)
		return 0;
	for (size_t i = 0; i < job->n; i++) {
		struct memc_op *one = &job->ops[i];

		if (one->verb != MEMC_DROP || one->answer != MEMC_NO_ROOM)
			continue;
		one->verb = MEMC_DROP_META;
		job->part = MEMC_FULL;
	}
	if (job->part == MEMC_WHOLE)
		return 0;
	job->from = job->to;
	send_part(s, job, op);
	return 1;
}

/* A wish keeps no client out, however long it lives. */
static int any_stored(const struct memc_job *job)
{
	for (size_t i = 0; i < job->n; i++) {
		if (dlki_memc_op_was_stored(&job->ops[i]) &&
		    job->ops[i].slot != MEMC_WISH)
			return 1;
	}
	return 0;
}

/* Note the stored items, so that the op stores them again at once. */
static void note_stored(const struct memc_store *s, const struct memc_job *job,
			const struct dlki_op *op)
{
	struct memc_claim *claim = &dlki_memc_asked(op)->claim;

	for (size_t i = 0; i < job->n; i++) {
		const struct memc_op *one = &job->ops[i];

		if (!dlki_memc_op_was_stored(one) || one->slot < MEMC_GATE)
			continue;
		if (job->verb == DLKI_ATTEMPT)
			dlki_memc_claim_accept(claim, &s->run, one);
		else
			dlki_memc_claim_own(claim, &s->run, one);
	}
	if (job->verb == DLKI_ATTEMPT)
		claim->unclear = job->unclear;
}

static void wait_for_clock(struct memc_store *s, struct memc_job *job,
			   struct dlki_op *op)
{
	if (op->claim)
		note_stored(s, job, op);
	if (op->deadline < s->now + NAP + s->round_trip) {
		dlki_memc_end_unreachable(s, job, op, MEMC_WAS_STOPPED);
		return;
	}
	dlki_hold(op);
	if (s->base.due > s->now + NAP)
		s->base.due = s->now + NAP;
	dlki_memc_job_free(job);
}

/* Does a stored item count?  0: the op waits for the server's clock, or is to
 * see that our run is there after the item's answer. */
static int is_believed(struct memc_store *s, struct memc_job *job,
		       struct dlki_op *op)
{
	if (job->part == MEMC_STATS_ONLY || !any_stored(job))
		return 1;
	if (s->now > s->run.trusted) {
		wait_for_clock(s, job, op);
		return 0;
	}
	if (dlki_memc_run_is_seen(&s->run, s->now))
		return 1;
	job->part = MEMC_STATS_ONLY;
	job->asks = 1;
	send_part(s, job, op);
	return 0;
}

static void go_on(struct memc_store *s, struct memc_job *job,
		  struct dlki_op *op)
{
	struct memc_asked *asked = dlki_memc_asked(op);

	if (job->error.code != 0) {
		dlki_memc_end_failed(job, op, &job->error);
		return;
	}
	if (drop_without_room(s, job, op))
		return;
	if (asked && asked->released && job->verb == DLKI_ATTEMPT) {
		dlki_busy(op, 0, 0);
		dlki_memc_job_free(job);
		return;
	}
	if (!is_believed(s, job, op))
		return;
	if (asked && job->verb == DLKI_ATTEMPT)
		asked->claim.unclear = job->unclear;
	job->then(s, job, op);
}

void dlki_memc_job_answered(struct memc_store *s, struct dlki_op *op)
{
	struct memc_job *job = STAILQ_FIRST(&s->jobs);
	struct dlki_front front = { 0 };

	STAILQ_REMOVE_HEAD(&s->jobs, in_jobs);
	if (dlki_front(s->link, &front))
		job->asked = front.since;
	if (job->part != MEMC_STATS_ONLY)
		job->since = job->asked;
	s->round_trip = s->now - job->asked;
	s->asking -= job->asks != 0;
	job->asks = 0;
	if (op)
		go_on(s, job, op);
	else
		dlki_memc_job_free(job);
	dlki_pop(s->link);
}

void dlki_memc_jobs_forget(struct memc_store *s)
{
	struct memc_job *job;

	while ((job = STAILQ_FIRST(&s->jobs))) {
		STAILQ_REMOVE_HEAD(&s->jobs, in_jobs);
		dlki_memc_job_free(job);
	}
	s->asking = 0;
}
