/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/engine/call.h"
#include "backends/redis/engine/waiters.h"

static enum dlk_verdict take_answer(struct redis2_ticket *t,
				    const struct redis2_call *call,
				    struct dlk_error *err)
{
	const struct redis2_op *op = &t->ask;

	t->base.resent = op->resent;
	switch (op->base.outcome) {
	case DLKI_GRANTED:
		t->base.token = op->base.token;
		t->base.since = op->base.since;
		t->base.lease_ms = op->base.lease_ms;
		t->granted = 1;
		return DLK_GRANTED;
	case DLKI_BUSY:
		t->base.look_again = 0;
		if (op->base.look_in_ms > 0)
			t->base.look_again = dlk_now() +
					     op->base.look_in_ms * DLK_MS;
		return DLK_BUSY;
	default:
		t->base.settled = op->base.outcome == DLKI_FAILED ||
				  !dlki_redis2_op_was_sent(op);
		t->base.settled &= !op->resent;
		dlki_redis2_call_error(call, op, err);
		return DLK_FAILED;
	}
}

enum dlk_verdict dlki_redis2_attempt(struct dlk_ticket *base, dlk_time deadline,
				     struct dlk_error *err)
{
	struct redis2_ticket *t = (struct redis2_ticket *)base;
	struct redis2_session *s = (struct redis2_session *)base->session;
	enum dlk_verdict verdict = DLK_GRANTED;
	struct redis2_call call;

	dlki_redis2_lock(s);
	if (dlki_redis2_waiter_take(t)) {
		t->granted = 1;
	} else {
		dlki_redis2_call(&call, s, DLKI_ATTEMPT, &base, 1, deadline);
		verdict = take_answer(t, &call, err);
	}
	dlki_redis2_unlock(s);
	if (verdict == DLK_BUSY)
		dlki_redis2_listen(s);
	return verdict;
}
