/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/memcached.h"

static enum dlk_verdict take_busy(struct memc_ticket *t,
				  const struct dlki_opcall *call,
				  struct dlk_error *err)
{
	const struct dlki_op *op = &t->ask.base;

	t->base.look_again = 0;
	if (op->look_in_ms > 0)
		t->base.look_again = dlk_now() + op->look_in_ms * DLK_MS;
	if (call->in_the_way.code != 0)
		*err = call->in_the_way;
	return DLK_BUSY;
}

/* The protocol shortens the lease by the time between the request that stored
 * the item and the last request.  A grant counts from the former: the core
 * gives back a grant of which less than half is left. */
static void take_lease(struct memc_ticket *t)
{
	int64_t lease_ms = t->base.lease_ms;

	dlki_opcall_lease(&t->ask, &t->base);
	if (t->base.lease_ms >= lease_ms)
		return;
	t->base.since -= (lease_ms - t->base.lease_ms) * DLK_MS;
	t->base.lease_ms = lease_ms;
}

static enum dlk_verdict take_answer(struct memc_ticket *t,
				    const struct dlki_opcall *call,
				    struct dlk_error *err)
{
	const struct dlki_opcall_op *op = &t->ask;

	t->base.resent = op->resent;
	switch (op->base.outcome) {
	case DLKI_GRANTED:
		t->base.token = op->base.token;
		take_lease(t);
		return DLK_GRANTED;
	case DLKI_BUSY:
		return take_busy(t, call, err);
	default:
		t->base.settled = !dlki_opcall_op_was_sent(op);
		dlki_opcall_error(call, op, err);
		return DLK_FAILED;
	}
}

enum dlk_verdict dlki_memc_attempt(struct dlk_ticket *base, dlk_time deadline,
				   struct dlk_error *err)
{
	struct memc_ticket *t = (struct memc_ticket *)base;
	struct dlki_opcall stack, *call;
	enum dlk_verdict verdict;

	if (!t->server)
		t->server = dlki_memc_server_of(base->session,
						base->request.name);
	call = dlki_memc_call(&stack, t, DLKI_ATTEMPT, deadline);
	if (!call)
		return DLK_LATER;
	verdict = take_answer(t, call, err);
	t->granted = verdict == DLK_GRANTED;
	dlki_opcall_done(call);
	return verdict;
}
