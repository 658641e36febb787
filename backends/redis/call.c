/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/call.h"

#include "backends/redis/waiters.h"

int dlki_redis_op_was_sent(const struct redis_op *op)
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

/* The connection is gone, and the next connection may be better.  An op of
 * several requests does not begin anew unless it remembers the first answer. */
static int was_cut_off(const struct redis_op *op)
{
	return op->base.outcome == DLKI_UNANSWERED &&
	       (op->base.requests <= 1 || op->base.about);
}

/* The server may evaluate a lost attempt after the next attempt: each has an
 * own number. */
static int send_again(struct redis_op *op)
{
	if (op->base.outcome != DLKI_AGAIN) {
		if (op->resent || !was_cut_off(op))
			return 0;
		op->resent = 1;
		(void)dlki_engine_hurry(op->base.engine);
	}
	if (op->base.verb == DLKI_ATTEMPT) {
		dlki_redis_waiter_attempt(op->ticket);
		op->base.id = op->ticket->attempt;
	}
	op->base.again |= op->resent;
	return dlki_submit(op->base.engine, &op->base) == 0;
}

static void note_attempt(const struct redis_op *op)
{
	struct redis_ticket *t = op->ticket;

	t->asked |= dlki_redis_op_was_sent(op);
	if (!t->asked)
		dlki_redis_waiter_forget(t);
	t->sent = op->base.since;
	t->busy_clock_us = op->base.outcome == DLKI_BUSY ?
				   op->base.store_clock_us :
				   0;
}

static void note_lease(const struct redis_op *op, dlk_time now)
{
	struct redis_ticket *t = op->ticket;

	if (op->base.outcome != DLKI_GRANTED &&
	    (op->base.outcome != DLKI_ANSWERED || op->base.verb != DLKI_RENEW))
		return;
	t->lease_from = op->base.since;
	t->lease_heard = now;
}

/* The answer to a release without a waiting thread.  The core may free the
 * ticket. */
static void tell_released(const struct redis_op *op)
{
	struct dlk_session *s = &op->session->base;
	uint64_t id = op->ticket->base.id;
	int rc = DLOCK_EUNREACHABLE;

	if (op->base.outcome == DLKI_ANSWERED)
		rc = op->granted && !op->base.stood ? DLOCK_ELOST : 0;
	dlk_released(s, id, rc);
}

static void note_end(struct redis_call *c, const struct redis_op *op,
		     dlk_time now)
{
	const struct dlki_op *base = &op->base;

	switch (base->outcome) {
	case DLKI_GRANTED:
	case DLKI_BUSY:
	case DLKI_ANSWERED:
		if (c->alone && base->requests == 1)
			dlk_answered(&c->session->base, base->since, now);
		break;
	case DLKI_FAILED:
		break;
	default:
		c->over |= now >= base->deadline;
	}
}

static void note_failure(struct redis_call *c, const struct dlki_op *base)
{
	if (c->failed.code != 0)
		return;
	if (base->error)
		c->failed = *base->error;
	else if (base->outcome == DLKI_FAILED)
		dlk_fail(&c->failed, DLOCK_ENOMEM, "out of memory");
}

static void leave(struct redis_op *op)
{
	*op->link = op->next;
	if (op->next)
		op->next->link = op->link;
	op->call = NULL;
}

static void op_done(struct dlki_op *base, dlk_time now)
{
	struct redis_op *op = (struct redis_op *)base;
	struct redis_call *c = op->call;

	if (base->verb == DLKI_ATTEMPT)
		note_attempt(op);
	if (op->ticket)
		note_lease(op, now);
	if (!c) {
		tell_released(op);
		return;
	}
	note_end(c, op, now);
	if (!c->over && now < c->deadline && send_again(op))
		return;
	note_failure(c, base);
	leave(op);
	if (!c->ops)
		dlki_waiter_done(base->engine, &c->waiter);
}

/* ---- A call -------------------------------------------------------------- */

void dlki_redis_op_prepare(struct redis_op *op, struct redis_session *s,
			   struct redis_ticket *t, enum dlki_verb verb,
			   dlk_time deadline)
{
	struct dlki_op *base = &op->base;

	base->verb = verb;
	base->deadline = deadline;
	base->done = op_done;
	op->session = s;
	op->ticket = t;
	op->call = NULL;
	op->resent = 0;
	if (!t)
		return;
	base->request = &t->base.request;
	base->token = t->base.token;
	base->token_used = t->base.token_used;
	base->lease_from = t->lease_from;
	base->lease_heard = t->lease_heard;
	base->pushed = t->by_push;
	base->again = t->asked;
	op->granted = t->granted;
	if (verb == DLKI_ATTEMPT) {
		dlki_redis_waiter_attempt(t);
		base->id = t->attempt;
	}
}

void dlki_redis_call_begin(struct redis_call *call, struct redis_session *s,
			   dlk_time deadline)
{
	dlki_redis_lock(s);
	*call = (struct redis_call){
		.session = s,
		.deadline = deadline,
		.next = s->calls,
		.link = &s->calls,
	};
	if (call->next)
		call->next->link = &call->next;
	s->calls = call;
	dlki_waiter_init(&call->waiter, DLKI_ANSWERS);
}

void dlki_redis_call_end(struct redis_call *call)
{
	*call->link = call->next;
	if (call->next)
		call->next->link = call->link;
	dlki_redis_unlock(call->session);
}

void dlki_redis_call_add(struct redis_call *call, struct redis_op *op)
{
	struct dlki_op *base = &op->base;

	if (base->state == DLKI_OP_IDLE &&
	    dlki_submit(call->session->engine, base) != 0) {
		base->outcome = DLKI_FAILED;
		base->residue = DLKI_RESIDUE_NONE;
		dlk_fail(&call->failed, DLOCK_ENOMEM, "out of memory");
		return;
	}
	call->alone = !call->ops;
	op->call = call;
	op->next = call->ops;
	op->link = &call->ops;
	if (op->next)
		op->next->link = &op->next;
	call->ops = op;
}

/* The caller no longer waits for the answers. */
static void end_ops(struct redis_call *c)
{
	c->over = 1;
	for (struct redis_op *op = c->ops; op; op = op->next)
		dlki_cancel(c->session->engine, &op->base);
}

/* A cancelled caller brings the deadline forward, and cannot wake this
 * thread. */
void dlki_redis_call_await(struct redis_call *call)
{
	struct dlki_engine *e = call->session->engine;

	if (!dlki_engine_is_up(e))
		call->too_early = dlki_engine_hurry(e);
	while (call->ops) {
		dlk_time until = dlk_wait_slice(call->deadline, 1);

		if (dlki_drive(e, &call->waiter, until))
			return;
		if (!call->over && dlk_now() >= dlk_deadline(call->deadline))
			end_ops(call);
	}
}

void dlki_redis_call_ticket(struct redis_call *call, struct redis_ticket *t,
			    enum dlki_verb verb, dlk_time deadline)
{
	struct redis_session *s = (struct redis_session *)t->base.session;
	struct redis_op *op = verb == DLKI_RELEASE ? &t->rel : &t->ask;

	dlki_redis_call_begin(call, s, deadline);
	if (op->base.state == DLKI_OP_IDLE)
		dlki_redis_op_prepare(op, s, t, verb, deadline);
	dlki_redis_call_add(call, op);
	dlki_redis_call_await(call);
}

int dlki_redis_call_session(struct redis_session *s, struct redis_op *op,
			    dlk_time deadline, struct dlk_error *err)
{
	struct redis_call call;
	int rc = 0;

	dlki_redis_call_begin(&call, s, deadline);
	dlki_redis_call_add(&call, op);
	dlki_redis_call_await(&call);
	if (op->base.outcome != DLKI_ANSWERED)
		rc = dlki_redis_call_error(&call, op, err);
	dlki_redis_call_end(&call);
	return rc;
}

/* ---- Failures ------------------------------------------------------------ */

void dlki_redis_calls_unreachable(struct redis_session *s)
{
	for (struct redis_call *c = s->calls; c; c = c->next) {
		if (c->too_early) {
			c->too_early = dlki_engine_hurry(s->engine);
			continue;
		}
		c->unreachable = 1;
		end_ops(c);
	}
}

void dlki_redis_calls_spare(struct redis_session *s, dlk_time answered)
{
	for (struct redis_call *c = s->calls; c; c = c->next) {
		if (answered > c->deadline && c->ops &&
		    c->ops->base.verb == DLKI_ATTEMPT)
			end_ops(c);
	}
}

/* A server said so over a connection: another connection may do. */
static int is_word_of_a_server(int code)
{
	return code == DLOCK_EPROTO || code == DLOCK_EDENIED ||
	       code == DLOCK_EINVAL || code == DLOCK_ENOTSUP;
}

static const char *in_time(const struct redis_op *op, int up)
{
	if (!up)
		return "not connected in time";
	return op->base.outcome == DLKI_UNSENT ?
		       "connected, but no time was left to ask anything" :
		       "no answer in time";
}

int dlki_redis_call_error(const struct redis_call *call,
			  const struct redis_op *op, struct dlk_error *err)
{
	const struct redis_session *s = call->session;
	int up = dlki_engine_is_up(s->engine);
	struct dlk_error why;

	if (op->base.outcome == DLKI_FAILED ||
	    (op->base.outcome == DLKI_UNANSWERED && call->failed.code != 0)) {
		*err = call->failed;
		return err->code;
	}
	if (op->base.outcome == DLKI_AGAIN)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s forgot our script while we asked",
				s->server);
	dlki_engine_why(s->engine, &why);
	if (why.code != 0 && (!call->over || call->unreachable || !up)) {
		*err = why;
		if (!call->unreachable && is_word_of_a_server(why.code))
			err->code = DLOCK_EUNREACHABLE;
		return err->code;
	}
	return dlk_fail(err, DLOCK_EUNREACHABLE, "%s: %s", s->server,
			in_time(op, up));
}
