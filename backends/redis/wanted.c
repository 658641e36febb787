/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/waiters.h"

static int no_channel(struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EUNREACHABLE, "no notification channel");
}

static int take_answer(struct redis_ticket *t, const struct dlki_opcall *call,
		       const struct dlki_opcall_op *op, struct dlk_error *err)
{
	if (op->base.outcome == DLKI_UNSENT &&
	    dlki_engine_is_up(call->session->engine))
		return no_channel(err);
	if (op->base.outcome != DLKI_ANSWERED)
		return dlki_opcall_error(call, op, err);
	if (!op->base.stood)
		return dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	t->watched = 1;
	t->base.token_last = op->base.token_last;
	return op->base.wanted;
}

/* Watch the claim.  The store tells as soon as the op is sent.  While the
 * channel is down, the core asks again, and no thread waits for the channel. */
int dlki_redis_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			    struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_session *s = dlki_redis_session(base->session);
	struct redis_call call;
	struct redis_op *op;
	int rc, is_deaf;

	dlki_redis_listen(s);
	dlki_session_lock(&s->loop);
	is_deaf = s->unheard != 0;
	if (!is_deaf)
		dlki_redis_watcher_add(t);
	dlki_session_unlock(&s->loop);
	if (is_deaf)
		return no_channel(err);
	op = dlki_redis_call(&call, t, DLKI_WATCH, deadline);
	rc = take_answer(t, call.call, &op->call, err);
	dlki_redis_done(&call, op);
	return rc;
}
