/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a ticket. */
#include "backends/redis/waiters.h"

static struct redis_ticket *ticket_of(const struct dlki_opcall_op *op)
{
	return ((const struct redis_op *)op)->ticket;
}

static void note_attempt(struct redis_ticket *t,
			 const struct dlki_opcall_op *op)
{
	t->asked |= dlki_opcall_op_was_sent(op);
	if (!t->asked)
		dlki_redis_waiter_forget(t);
	t->sent = op->base.since;
	t->busy_clock_us = op->base.outcome == DLKI_BUSY ?
				   op->base.store_clock_us :
				   0;
}

static void note_lease(struct redis_ticket *t, const struct dlki_op *op,
		       dlk_time now)
{
	if (op->outcome != DLKI_GRANTED &&
	    (op->outcome != DLKI_ANSWERED || op->verb != DLKI_RENEW))
		return;
	t->lease_from = op->since;
	t->lease_heard = now;
}

static void on_ended(struct dlki_opcall_op *op, dlk_time now)
{
	struct redis_ticket *t = ticket_of(op);

	if (op->base.verb == DLKI_ATTEMPT)
		note_attempt(t, op);
	note_lease(t, &op->base, now);
}

/* Give the attempt another number: the server may evaluate a lost attempt after
 * the next. */
static void on_again(struct dlki_opcall_op *op)
{
	struct redis_ticket *t = ticket_of(op);

	if (op->base.verb != DLKI_ATTEMPT)
		return;
	dlki_redis_waiter_attempt(t);
	op->base.id = t->attempt;
	op->base.again |= t->asked;
}

/* Tell the core the answer to a release without a waiting thread.  The core may
 * free the ticket. */
static void tell_released(struct dlki_opcall_op *call)
{
	struct redis_op *op = (struct redis_op *)call;
	const struct redis_ticket *t = op->ticket;
	int rc = DLOCK_EUNREACHABLE;

	if (call->base.outcome == DLKI_ANSWERED)
		rc = op->was_granted && !call->base.stood ? DLOCK_ELOST : 0;
	dlki_redis_put(op);
	dlk_released(t->base.session, t->base.id, rc);
}

/* ---- The place of an op -------------------------------------------------- */

static struct redis_op **place_of(struct redis_ticket *t, enum dlki_verb verb)
{
	return verb == DLKI_RELEASE ? &t->rel : &t->ask;
}

/* Prepare an idle op. */
static void prepare(struct redis_op *op, struct redis_ticket *t,
		    enum dlki_verb verb, dlk_time deadline)
{
	struct dlki_opcall_op *call = &op->call;

	dlki_opcall_op_prepare(call, &dlki_redis_session(t->base.session)->loop,
			       verb, deadline);
	call->ended = on_ended;
	call->again = on_again;
	call->told = tell_released;
	call->base.request = &t->base.request;
	call->base.token = t->base.token;
	call->base.token_used = t->base.token_used;
	call->base.lease_from = t->lease_from;
	call->base.lease_heard = t->lease_heard;
	call->base.pushed = t->by_push;
	call->base.again = t->asked;
	op->ticket = t;
	op->was_granted = t->granted;
	*place_of(t, verb) = op;
	on_again(call);
}

struct redis_op *dlki_redis_prepare(struct redis_ticket *t, enum dlki_verb verb,
				    dlk_time deadline)
{
	struct redis_session *s = dlki_redis_session(t->base.session);
	struct redis_op *op = *place_of(t, verb);

	if (op && op->call.base.state != DLKI_OP_IDLE)
		return op;
	if (!op) {
		op = dlki_blocks_get(&s->ops, sizeof(*op));
		if (!op)
			return NULL;
		op->in_block = 1;
	}
	prepare(op, t, verb, deadline);
	return op;
}

void dlki_redis_put(struct redis_op *op)
{
	struct redis_ticket *t;

	if (!op)
		return;
	t = op->ticket;
	*place_of(t, op->call.base.verb) = NULL;
	if (op->in_block)
		dlki_blocks_put(&dlki_redis_session(t->base.session)->ops, op);
}

/* The op goes on without the caller, if there is memory for a block. */
static struct redis_op *prepare_for(struct redis_ticket *t, enum dlki_verb verb,
				    dlk_time deadline, struct redis_op *own)
{
	struct redis_op *op = NULL;

	if (t->base.no_wait)
		op = dlki_redis_prepare(t, verb, deadline);
	if (op)
		return op;
	*own = (struct redis_op){ 0 };
	prepare(own, t, verb, deadline);
	return own;
}

struct redis_op *dlki_redis_call(struct redis_call *c, struct redis_ticket *t,
				 enum dlki_verb verb, dlk_time deadline)
{
	struct redis_op *op;

	dlki_session_lock(&dlki_redis_session(t->base.session)->loop);
	op = *place_of(t, verb);
	if (!op)
		op = prepare_for(t, verb, deadline, &c->op);
	c->call = dlki_opcall_carry_out(&op->call, &c->own, &t->base, deadline,
					op->in_block);
	return c->call ? op : NULL;
}

void dlki_redis_done(const struct redis_call *c, struct redis_op *op)
{
	dlki_redis_put(op);
	dlki_opcall_done(c->call);
}

void dlki_redis_forgo(struct redis_op *op)
{
	if (!op || !op->call.own)
		return;
	dlki_opcall_forgo(&op->call);
	dlki_redis_put(op);
}
