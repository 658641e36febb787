/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/waiters.h"

/* Look again.  Without WAKE the core polls, at the end of the holder's lease at
 * the latest. */
static void look_again_in(struct redis_ticket *t, int64_t ms)
{
	const struct dlk_session *s = t->base.session;

	t->base.look_again = 0;
	if (ms > 0 && (s->caps & DLOCK_CAP_WAKE || ms <= s->poll_min_ms))
		t->base.look_again = dlk_now() + ms * DLK_MS;
}

static enum dlk_verdict take_answer(struct redis_ticket *t,
				    const struct dlki_opcall *call,
				    const struct dlki_opcall_op *op,
				    struct dlk_error *err)
{
	t->base.resent = op->resent;
	switch (op->base.outcome) {
	case DLKI_GRANTED:
		t->base.token = op->base.token;
		dlki_opcall_lease(op, &t->base);
		t->by_push = 0;
		return DLK_GRANTED;
	case DLKI_BUSY:
		look_again_in(t, op->base.look_in_ms);
		return DLK_BUSY;
	default:
		t->base.settled = !op->resent &&
				  (op->base.outcome == DLKI_FAILED ||
				   !dlki_opcall_op_was_sent(op));
		dlki_opcall_error(call, op, err);
		return DLK_FAILED;
	}
}

/* Take a grant message that has come, without a request. */
static int take_pushed(struct redis_ticket *t)
{
	const struct dlki_session *s =
		&dlki_redis_session(t->base.session)->loop;
	int taken;

	dlki_session_lock(s);
	taken = dlki_redis_waiter_take(t);
	if (taken) {
		dlki_redis_waiter_forget(t);
		t->granted = t->by_push = 1;
		t->lease_from = t->lease_heard = 0;
	}
	dlki_session_unlock(s);
	return taken;
}

enum dlk_verdict dlki_redis_attempt(struct dlk_ticket *base, dlk_time deadline,
				    struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	enum dlk_verdict verdict;
	struct redis_call call;
	struct redis_op *op;

	if (!t->ask && t->asked && take_pushed(t))
		return DLK_GRANTED;
	op = dlki_redis_call(&call, t, DLKI_ATTEMPT, deadline);
	if (!op)
		return DLK_LATER;
	verdict = take_answer(t, call.call, &op->call, err);
	t->granted = verdict == DLK_GRANTED;
	if (t->granted)
		dlki_redis_waiter_forget(t);
	dlki_redis_done(&call, op);
	if (verdict == DLK_BUSY && base->session->caps & DLOCK_CAP_WAKE)
		dlki_redis_listen(dlki_redis_session(base->session));
	return verdict;
}
