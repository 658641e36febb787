/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop/call.h"

#include <assert.h>
#include <stdlib.h>
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

/* There is no memory to submit the op, which has ended unsent. */
static int fail_for_memory(struct dlki_opcall_op *op)
{
	op->base.outcome = DLKI_FAILED;
	op->base.residue = DLKI_RESIDUE_NONE;
	op->base.error = NULL;
	if (op->ended)
		op->ended(op, dlk_now());
	return DLOCK_ENOMEM;
}

/* 0, or as fail_for_memory(). */
static int submit(struct dlki_opcall_op *op)
{
	if (dlki_submit(op->session->engine, &op->base) == 0)
		return 0;
	return fail_for_memory(op);
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
	return submit(op) == 0;
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
	default:
		break;
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
	op->over |= now >= op->base.deadline;
	if (!op->over && now < c->deadline && send_again(op))
		return 0;
	note_failure(c, &op->base);
	LIST_REMOVE(op, in_ops);
	op->call = NULL;
	return 1;
}

/* All ops of the call have ended. */
static void end_call(struct dlki_opcall *c)
{
	dlki_waiter_done(c->session->engine, &c->waiter);
	if (c->told)
		dlk_go_on(c->told, c->id);
}

static void op_done(struct dlki_op *base, dlk_time now)
{
	struct dlki_opcall_op *op = (struct dlki_opcall_op *)base;
	struct dlki_opcall *c = op->call;

	if (op->ended)
		op->ended(op, now);
	if (c && has_ended(op, now) && LIST_EMPTY(&c->ops))
		end_call(c);
	if (!c && op->told)
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
	op->call = op->own = NULL;
	op->resent = op->over = op->unreachable = 0;
}

/* With the mutex locked. */
static void begin(struct dlki_opcall *call, struct dlki_session *s,
		  dlk_time deadline)
{
	memset(call, 0, offsetof(struct dlki_opcall, why));
	call->why.code = call->failed.code = call->in_the_way.code = 0;
	call->session = s;
	call->deadline = deadline;
	LIST_INSERT_HEAD(&s->calls, call, in_calls);
	dlki_waiter_init(&call->waiter);
}

void dlki_opcall_begin(struct dlki_opcall *call, struct dlki_session *s,
		       dlk_time deadline)
{
	dlki_session_lock(s);
	begin(call, s, deadline);
}

void dlki_opcall_end(struct dlki_opcall *call)
{
	assert(LIST_EMPTY(&call->ops));
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
	if (op->base.state == DLKI_OP_IDLE && submit(op) != 0) {
		dlki_nomem(&call->failed);
		return;
	}
	assert(!op->call);
	call->waiter.done = 0; /* earlier ops may all have ended */
	call->alone = LIST_EMPTY(&call->ops);
	op->call = call;
	LIST_INSERT_HEAD(&call->ops, op, in_ops);
}

/* The caller no longer waits for the answers. */
static void end_ops(struct dlki_opcall *c, bool unreachable)
{
	struct dlki_opcall_op *op;

	LIST_FOREACH(op, &c->ops, in_ops) {
		op->over = 1;
		op->unreachable |= unreachable;
		dlki_cancel(&op->base);
	}
}

/* A cancel ends the wait, and the call only if it is the waiter's alone. */
int dlki_opcall_await_until(struct dlki_opcall *call, dlk_time until)
{
	struct dlki_engine *e = call->session->engine;
	int goes_on = until != DLK_FOREVER;

	while (!LIST_EMPTY(&call->ops)) {
		dlk_time last = call->deadline;

		if (dlki_drive(e, &call->waiter, last < until ? last : until))
			return 1;
		if (dlk_now() >= (goes_on ? last : dlk_deadline(last)))
			end_ops(call, 0);
		else if (goes_on && dlk_now() >= dlk_deadline(until))
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

/* ---- A call that no thread waits for ------------------------------------- */

/* A client without threads has no other call that would send the op: the
 * attendant does. */
void dlki_opcall_put_off(struct dlki_opcall *call, struct dlk_session *told,
			 uint64_t id)
{
	dlki_opcall_hurry(call);
	if (call->session->base->attendant) {
		call->told = told;
		call->id = id;
		dlki_drive_soon(call->session->engine);
	}
	dlki_session_unlock(call->session);
}

/* Without memory for a call of the op's own the caller waits; but not in a
 * client without threads, where others' renewals would wait, too, unless the op
 * is under way already. */
static struct dlki_opcall *begin_for(struct dlki_opcall_op *op,
				     struct dlki_opcall *own, int leaves,
				     int may_stay, dlk_time deadline)
{
	struct dlki_session *s = op->session;

	if (leaves && may_stay)
		op->own = malloc(sizeof(*own));
	if (op->own)
		own = op->own;
	begin(own, s, deadline);
	own->on_heap = op->own != NULL;
	if (!leaves || op->own || !s->base->attendant ||
	    op->base.state != DLKI_OP_IDLE)
		dlki_opcall_add(own, op);
	else if (fail_for_memory(op) != 0)
		dlki_nomem(&own->failed);
	return own;
}

struct dlki_opcall *dlki_opcall_carry_out(struct dlki_opcall_op *op,
					  struct dlki_opcall *own,
					  const struct dlk_ticket *t,
					  dlk_time deadline, int may_stay)
{
	struct dlki_opcall *call = op->own;

	if (!call)
		call = begin_for(op, own, t->no_wait, may_stay, deadline);
	if (call == op->own && t->no_wait && !LIST_EMPTY(&call->ops)) {
		dlki_opcall_put_off(call, t->session, t->id);
		return NULL;
	}
	dlki_opcall_await(call);
	op->own = NULL;
	return call;
}

void dlki_opcall_done(struct dlki_opcall *call)
{
	int on_heap = call->on_heap;

	dlki_opcall_end(call);
	if (on_heap)
		free(call);
}

void dlki_opcall_forgo(struct dlki_opcall_op *op)
{
	struct dlki_opcall *own = op->own;

	own->told = NULL;
	end_ops(own, 0);
	dlki_push(op->session->engine);
	assert(LIST_EMPTY(&own->ops));
	LIST_REMOVE(own, in_calls);
	op->own = NULL;
	free(own);
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
		dlki_engine_why(s->engine, &c->why);
		end_ops(c, 1);
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
			end_ops(c, 0);
	}
}
