/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/call.h"

#include <string.h>

#include "core/base/error.h"

int dlki_opcall_op_was_sent(const struct dlki_opcall_op *op)
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
 * several requests does not begin anew unless the store can begin anew. */
static int was_cut_off(const struct dlki_opcall_op *op)
{
	return op->base.outcome == DLKI_UNANSWERED &&
	       (op->base.requests <= 1 || op->anew);
}

/* 0; or there is no memory, and the op has ended unsent. */
static int submit(struct dlki_opcall_op *op, struct dlki_engine *e)
{
	if (dlki_submit(e, &op->base) == 0)
		return 0;
	if (op->ended)
		op->ended(op, dlk_now());
	return DLOCK_ENOMEM;
}

static int submit_first(struct dlki_opcall_op *op)
{
	op->base.outcome = DLKI_FAILED;
	op->base.residue = DLKI_RESIDUE_NONE;
	return submit(op, op->session->engine);
}

static int send_again(struct dlki_opcall_op *op)
{
	if (op->base.outcome != DLKI_AGAIN) {
		if (op->resent || !was_cut_off(op))
			return 0;
		op->resent = 1;
		(void)dlki_engine_hurry(op->base.engine);
	}
	if (op->again)
		op->again(op);
	op->base.again |= op->resent;
	if (submit(op, op->base.engine) == 0)
		return 1;
	op->base.outcome = DLKI_FAILED;
	op->base.residue = DLKI_RESIDUE_NONE;
	op->base.error = NULL;
	return 0;
}

static void note_end(struct dlki_opcall *c, const struct dlki_op *base,
		     dlk_time now)
{
	switch (base->outcome) {
	case DLKI_GRANTED:
	case DLKI_BUSY:
	case DLKI_ANSWERED:
		if (base->error)
			c->in_the_way = *base->error;
		if (c->alone) /* `since` is the last request's */
			dlk_answered(c->session->base, base->since, now);
		break;
	case DLKI_FAILED:
		break;
	default:
		c->over |= now >= base->deadline;
	}
}

static void note_failure(struct dlki_opcall *c, const struct dlki_op *base)
{
	if (c->failed.code != 0 || base->outcome == DLKI_BUSY)
		return;
	if (base->error)
		c->failed = *base->error;
	else if (base->outcome == DLKI_FAILED)
		dlki_nomem(&c->failed);
}

/* The op has ended within the call: does the call wait for the op no more? */
static int has_ended(struct dlki_opcall_op *op, dlk_time now)
{
	struct dlki_opcall *c = op->call;

	note_end(c, &op->base, now);
	if (!c->over && now < c->deadline && send_again(op))
		return 0;
	note_failure(c, &op->base);
	LIST_REMOVE(op, in_ops);
	op->call = NULL;
	return 1;
}

/* The op has ended before the op's call.  An error does not last until then, so
 * the call asks for the error again. */
static void ended_early(struct dlki_opcall_op *op)
{
	struct dlki_op *base = &op->base;
	int had_error = base->error != NULL;

	base->error = NULL;
	if (!had_error || base->outcome == DLKI_UNANSWERED)
		return;
	op->resent |= base->residue != DLKI_RESIDUE_NONE;
	base->outcome = DLKI_AGAIN;
}

static void op_done(struct dlki_op *base, dlk_time now)
{
	struct dlki_opcall_op *op = (struct dlki_opcall_op *)base;
	struct dlki_opcall *c = op->call;

	if (op->ended)
		op->ended(op, now);
	if (c && has_ended(op, now) && LIST_EMPTY(&c->ops))
		dlki_waiter_done(base->engine, &c->waiter);
	if (c)
		return;
	if (op->begun)
		ended_early(op);
	else if (op->told)
		op->told(op);
}

/* ---- A call -------------------------------------------------------------- */

void dlki_opcall_op_prepare(struct dlki_opcall_op *op, struct dlki_session *s,
			    enum dlki_verb verb, dlk_time deadline)
{
	op->base.verb = verb;
	op->base.deadline = deadline;
	op->base.done = op_done;
	op->session = s;
	op->call = NULL;
	op->resent = op->begun = 0;
}

void dlki_opcall_op_begin(struct dlki_opcall_op *op)
{
	op->begun = submit_first(op) == 0;
}

void dlki_opcall_op_forgo(struct dlki_opcall_op *op)
{
	dlki_cancel(&op->base);
	dlki_push(op->session->engine);
}

void dlki_opcall_begin(struct dlki_opcall *call, struct dlki_session *s,
		       dlk_time deadline)
{
	dlki_session_lock(s);
	memset(call, 0, offsetof(struct dlki_opcall, why));
	call->why.code = call->failed.code = call->in_the_way.code = 0;
	call->session = s;
	call->deadline = deadline;
	LIST_INSERT_HEAD(&s->calls, call, in_calls);
	dlki_waiter_init(&call->waiter);
}

void dlki_opcall_end(struct dlki_opcall *call)
{
	LIST_REMOVE(call, in_calls);
	dlki_session_unlock(call->session);
}

void dlki_opcall_leave(struct dlki_opcall *call)
{
	dlki_drive_start(call->session->engine);
	dlki_session_unlock(call->session);
}

void dlki_opcall_resume(struct dlki_opcall *call)
{
	dlki_session_lock(call->session);
}

void dlki_opcall_add(struct dlki_opcall *call, struct dlki_opcall_op *op)
{
	struct dlki_op *base = &op->base;
	int ended = op->begun && base->state == DLKI_OP_IDLE;

	op->begun = 0;
	if (!ended && base->state == DLKI_OP_IDLE && submit_first(op) != 0) {
		dlki_nomem(&call->failed);
		return;
	}
	call->alone = LIST_EMPTY(&call->ops);
	op->call = call;
	LIST_INSERT_HEAD(&call->ops, op, in_ops);
	if (!ended)
		return;
	call->alone = 0; /* the time of the answer is not known */
	(void)has_ended(op, dlk_now());
}

/* The caller no longer waits for the answers. */
static void end_ops(struct dlki_opcall *c)
{
	struct dlki_opcall_op *op;

	c->over = 1;
	LIST_FOREACH(op, &c->ops, in_ops)
		dlki_cancel(&op->base);
}

int dlki_opcall_await_until(struct dlki_opcall *call, dlk_time until)
{
	struct dlki_engine *e = call->session->engine;

	while (!LIST_EMPTY(&call->ops)) {
		dlk_time end = call->deadline < until ? call->deadline : until;

		if (dlki_drive(e, &call->waiter, end))
			return 1;
		if (!call->over && dlk_now() >= dlk_deadline(call->deadline))
			end_ops(call);
		else if (until != DLK_FOREVER && dlk_now() >= until)
			return 0;
	}
	return 1;
}

void dlki_opcall_hurry(struct dlki_opcall *call)
{
	struct dlki_engine *e = call->session->engine;

	if (!dlki_engine_is_up(e))
		call->too_early = dlki_engine_hurry(e);
}

void dlki_opcall_await(struct dlki_opcall *call)
{
	dlki_opcall_hurry(call);
	(void)dlki_opcall_await_until(call, DLK_FOREVER);
}

int dlki_opcall_one(struct dlki_opcall_op *op, struct dlki_session *s,
		    enum dlki_verb verb, dlk_time deadline,
		    struct dlk_error *err)
{
	struct dlki_opcall call;
	int rc = 0;

	dlki_opcall_op_prepare(op, s, verb, deadline);
	dlki_opcall_begin(&call, s, deadline);
	dlki_opcall_add(&call, op);
	dlki_opcall_await(&call);
	if (op->base.outcome != DLKI_ANSWERED)
		rc = dlki_opcall_error(&call, op, err);
	dlki_opcall_end(&call);
	return rc;
}

/* ---- Failures ------------------------------------------------------------ */

void dlki_opcalls_unreachable(struct dlki_session *s)
{
	struct dlki_opcall *c;

	LIST_FOREACH(c, &s->calls, in_calls) {
		if (c->too_early) {
			c->too_early = dlki_engine_hurry(s->engine);
			continue;
		}
		c->unreachable = 1;
		dlki_engine_why(s->engine, &c->why);
		end_ops(c);
	}
}

void dlki_opcalls_reached(struct dlki_session *s, dlk_time answered)
{
	struct dlki_opcall *c;

	LIST_FOREACH(c, &s->calls, in_calls) {
		const struct dlki_opcall_op *op = LIST_FIRST(&c->ops);

		c->too_early = 0;
		if (answered > c->deadline && op &&
		    op->base.verb == DLKI_ATTEMPT)
			end_ops(c);
	}
}

/* A server said so over a connection: another connection may do. */
static int is_word_of_a_server(int code)
{
	return code == DLOCK_EPROTO || code == DLOCK_EDENIED ||
	       code == DLOCK_EINVAL || code == DLOCK_ENOTSUP;
}

static const char *in_time(const struct dlki_opcall_op *op, int up)
{
	if (!up)
		return "not connected in time";
	return op->base.outcome == DLKI_UNSENT ?
		       "connected, but no time was left to ask anything" :
		       "no answer in time";
}

int dlki_opcall_error(const struct dlki_opcall *call,
		      const struct dlki_opcall_op *op, struct dlk_error *err)
{
	const struct dlki_session *s = call->session;
	int up = dlki_engine_is_up(s->engine);
	struct dlk_error why;

	if (op->base.outcome == DLKI_FAILED ||
	    (op->base.outcome == DLKI_UNANSWERED && call->failed.code != 0)) {
		*err = call->failed;
		return err->code;
	}
	if (op->base.outcome == DLKI_AGAIN)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s did not take the request", s->server);
	if (call->unreachable)
		why = call->why;
	else
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

/* ---- Leases -------------------------------------------------------------- */

void dlki_opcall_lease(const struct dlki_opcall_op *op, struct dlk_ticket *t)
{
	t->since = op->base.since;
	t->lease_ms = op->base.lease_ms;
}

enum dlk_renewal dlki_opcall_renewed(const struct dlki_opcall *call,
				     const struct dlki_opcall_op *op,
				     struct dlk_ticket *t,
				     struct dlk_error *err)
{
	if (op->base.outcome != DLKI_ANSWERED) {
		if (err->code == 0)
			dlki_opcall_error(call, op, err);
		return DLK_UNKNOWN;
	}
	if (!op->base.stood)
		return DLK_GONE;
	dlki_opcall_lease(op, t);
	return DLK_RENEWED;
}
