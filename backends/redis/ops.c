/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of a ticket. */
#include <stddef.h>

#include "backends/redis/waiters.h"

static struct redis_ticket *ticket_of(struct dlki_opcall_op *op)
{
	size_t at = op->base.verb == DLKI_RELEASE ?
			    offsetof(struct redis_ticket, rel) :
			    offsetof(struct redis_ticket, ask);

	return (struct redis_ticket *)((char *)op - at);
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
static void tell_released(struct dlki_opcall_op *op)
{
	const struct redis_ticket *t = ticket_of(op);
	int rc = DLOCK_EUNREACHABLE;

	if (op->base.outcome == DLKI_ANSWERED)
		rc = t->was_granted && !op->base.stood ? DLOCK_ELOST : 0;
	dlk_released(t->base.session, t->base.id, rc);
}

struct dlki_opcall_op *dlki_redis_prepare(struct redis_ticket *t,
					  enum dlki_verb verb,
					  dlk_time deadline)
{
	struct dlki_opcall_op *op = verb == DLKI_RELEASE ? &t->rel : &t->ask;

	if (op->base.state != DLKI_OP_IDLE || op->begun)
		return op;
	dlki_opcall_op_prepare(op, &dlki_redis_session(t->base.session)->loop,
			       verb, deadline);
	op->ended = on_ended;
	op->again = on_again;
	op->told = tell_released;
	op->base.request = &t->base.request;
	op->base.token = t->base.token;
	op->base.token_used = t->base.token_used;
	op->base.lease_from = t->lease_from;
	op->base.lease_heard = t->lease_heard;
	op->base.pushed = t->by_push;
	op->base.again = t->asked;
	on_again(op);
	if (verb == DLKI_RELEASE)
		t->was_granted = t->granted;
	return op;
}

void dlki_redis_call(struct dlki_opcall *call, struct redis_ticket *t,
		     enum dlki_verb verb, dlk_time deadline)
{
	struct redis_session *s = dlki_redis_session(t->base.session);

	dlki_opcall_begin(call, &s->loop, deadline);
	dlki_opcall_add(call, dlki_redis_prepare(t, verb, deadline));
	dlki_opcall_await(call);
}
