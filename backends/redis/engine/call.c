/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/engine/call.h"

#include "backends/redis/engine/waiters.h"

struct redis2_op *dlki_redis2_op(struct redis2_ticket *t, enum dlki_verb verb)
{
	return verb == DLKI_RELEASE ? &t->rel : &t->ask;
}

int dlki_redis2_op_was_sent(const struct redis2_op *op)
{
	const struct dlki_op *base = &op->base;

	switch (base->outcome) {
	case DLKI_UNSENT:
	case DLKI_AGAIN:
		return op->resent;
	case DLKI_FAILED:
		return op->resent || base->residue != DLKI_RESIDUE_NONE;
	default:
		return 1;
	}
}

/* ---- The end of an op ---------------------------------------------------- */

/* The connection is gone, and the next connection may be better. */
static int was_cut_off(const struct redis2_op *op)
{
	struct dlk_error why;

	dlki_engine_why(op->base.engine, &why);
	return op->base.outcome == DLKI_UNANSWERED &&
	       why.code == DLOCK_EUNREACHABLE;
}

/* The server may evaluate a lost attempt after the next attempt: each has an
 * own number. */
static int send_again(struct redis2_op *op)
{
	if (op->base.outcome != DLKI_AGAIN) {
		if (op->resent || !was_cut_off(op))
			return 0;
		op->resent = 1;
		dlki_engine_hurry(op->base.engine);
	}
	if (op->base.verb == DLKI_ATTEMPT) {
		dlki_redis2_waiter_attempt(op->ticket);
		op->base.id = op->ticket->attempt;
	}
	op->base.again = op->ticket->asked;
	return dlki_submit(op->base.engine, &op->base) == 0;
}

static void note_attempt(const struct redis2_op *op)
{
	struct redis2_ticket *t = op->ticket;

	t->asked |= dlki_redis2_op_was_sent(op);
	if (!t->asked)
		dlki_redis2_waiter_forget(t);
	t->sent = op->base.since;
	t->busy_clock_us = op->base.outcome == DLKI_BUSY ?
				   op->base.store_clock_us :
				   0;
}

/* The answer to a release without a waiting thread.  The core may free the
 * ticket. */
static void tell_released(const struct redis2_op *op)
{
	struct dlk_session *s = op->ticket->base.session;
	uint64_t id = op->ticket->base.id;
	int rc = DLOCK_EUNREACHABLE;

	if (op->base.outcome == DLKI_ANSWERED)
		rc = op->granted && !op->base.stood ? DLOCK_ELOST : 0;
	dlk_released(s, id, rc);
}

static void end_of(struct redis2_call *c, const struct redis2_op *op,
		   dlk_time now)
{
	const struct dlki_op *base = &op->base;

	switch (base->outcome) {
	case DLKI_GRANTED:
	case DLKI_BUSY:
	case DLKI_ANSWERED:
		if (c->n == 1)
			dlk_answered(&c->session->base, base->since, now);
		break;
	case DLKI_FAILED:
		if (c->failed.code == 0 && base->error)
			c->failed = *base->error;
		else if (c->failed.code == 0)
			dlk_fail(&c->failed, DLOCK_ENOMEM, "out of memory");
		break;
	default:
		c->over |= now >= base->deadline;
	}
}

static void op_done(struct dlki_op *base, dlk_time now)
{
	struct redis2_op *op = (struct redis2_op *)base;
	struct redis2_call *c = op->call;

	if (base->verb == DLKI_ATTEMPT)
		note_attempt(op);
	if (!c) {
		tell_released(op);
		return;
	}
	end_of(c, op, now);
	if (!c->over && now < c->deadline && send_again(op))
		return;
	op->call = NULL;
	if (--c->left == 0)
		dlki_waiter_done(base->engine, &c->waiter);
}

/* ---- A call -------------------------------------------------------------- */

void dlki_redis2_op_prepare(struct redis2_op *op, struct redis2_ticket *t,
			    enum dlki_verb verb, dlk_time deadline)
{
	struct dlki_op *base = &op->base;

	base->verb = verb;
	base->request = &t->base.request;
	base->token = t->base.token;
	base->token_used = verb == DLKI_RELEASE ? t->base.token_used : 0;
	base->deadline = deadline;
	base->again = t->asked;
	base->done = op_done;
	op->ticket = t;
	op->call = NULL;
	op->resent = 0;
	op->granted = t->granted;
	if (verb == DLKI_ATTEMPT) {
		dlki_redis2_waiter_attempt(t);
		base->id = t->attempt;
	}
}

static void submit(struct redis2_call *c, struct redis2_op *op,
		   struct redis2_ticket *t)
{
	if (op->base.state == DLKI_OP_IDLE) {
		dlki_redis2_op_prepare(op, t, c->verb, c->deadline);
		if (dlki_submit(c->session->engine, &op->base) != 0) {
			op->base.outcome = DLKI_FAILED;
			op->base.residue = DLKI_RESIDUE_NONE;
			dlk_fail(&c->failed, DLOCK_ENOMEM, "out of memory");
			return;
		}
	}
	op->call = c;
	c->left++;
}

static void submit_all(struct redis2_call *c)
{
	for (size_t i = 0; i < c->n; i++) {
		struct redis2_ticket *t = (struct redis2_ticket *)c->tickets[i];

		if (c->verb == DLKI_RELEASE && !t->asked)
			continue;
		submit(c, dlki_redis2_op(t, c->verb), t);
	}
	if (!dlki_engine_is_up(c->session->engine))
		dlki_engine_hurry(c->session->engine);
}

/* The caller no longer waits for the answers. */
static void end_ops(struct redis2_call *c)
{
	c->over = 1;
	for (size_t i = 0; i < c->n; i++) {
		struct redis2_op *op = dlki_redis2_op(
			(struct redis2_ticket *)c->tickets[i], c->verb);

		if (op->call == c)
			dlki_cancel(c->session->engine, &op->base);
	}
}

/* A cancelled caller brings the deadline forward, and cannot wake this
 * thread. */
static void await(struct redis2_call *c)
{
	while (c->left > 0) {
		dlk_time until = dlk_wait_slice(c->deadline, 1);

		if (dlki_drive(c->session->engine, &c->waiter, until))
			return;
		if (!c->over && dlk_now() >= dlk_deadline(c->deadline))
			end_ops(c);
	}
}

void dlki_redis2_call(struct redis2_call *call, struct redis2_session *s,
		      enum dlki_verb verb, struct dlk_ticket *const tickets[],
		      size_t n, dlk_time deadline)
{
	*call = (struct redis2_call){
		.session = s,
		.verb = verb,
		.tickets = tickets,
		.n = n,
		.deadline = deadline,
		.next = s->calls,
		.link = &s->calls,
	};
	if (call->next)
		call->next->link = &call->next;
	s->calls = call;
	dlki_waiter_init(&call->waiter, DLKI_ANSWERS);
	submit_all(call);
	await(call);
	dlki_waiter_destroy(&call->waiter);
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
}

/* ---- Failures ------------------------------------------------------------ */

void dlki_redis2_calls_unreachable(struct redis2_session *s)
{
	for (struct redis2_call *c = s->calls; c; c = c->next) {
		c->unreachable = 1;
		end_ops(c);
	}
}

int dlki_redis2_call_error(const struct redis2_call *call,
			   const struct redis2_op *op, struct dlk_error *err)
{
	const struct redis2_session *s = call->session;
	struct dlk_error why;

	if (op->base.outcome == DLKI_FAILED) {
		*err = call->failed;
		return err->code;
	}
	if (op->base.outcome == DLKI_AGAIN)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s forgot our script while we asked",
				s->server);
	dlki_engine_why(s->engine, &why);
	if (why.code != 0 && (!call->over || call->unreachable ||
			      !dlki_engine_is_up(s->engine))) {
		*err = why;
		return err->code;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", s->server,
			dlki_engine_is_up(s->engine) ? "no answer in time" :
						       "not connected in time");
}
