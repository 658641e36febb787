/* SPDX-License-Identifier: Apache-2.0 */
/* Release, also of all claims at once. */
#include "backends/redis/engine/call.h"
#include "backends/redis/engine/waiters.h"

/* The engine has no op of the ticket's, and no news matter to it. */
static int take_answer(struct redis2_ticket *t, const struct redis2_call *call,
		       struct dlk_error *err)
{
	const struct redis2_op *op = &t->rel;

	if (op->base.outcome != DLKI_ANSWERED)
		return dlki_redis2_call_error(call, op, err);
	if (op->granted && !op->base.stood && !op->resent)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return 0;
}

int dlki_redis2_release(struct dlk_ticket *base, dlk_time deadline,
			struct dlk_error *err)
{
	struct redis2_ticket *t = (struct redis2_ticket *)base;
	struct redis2_session *s = (struct redis2_session *)base->session;
	struct redis2_call call;
	int rc = 0;

	dlki_redis2_lock(s);
	dlki_redis2_waiter_forget(t);
	if (t->asked) {
		dlki_redis2_call(&call, s, DLKI_RELEASE, &base, 1, deadline);
		rc = take_answer(t, &call, err);
	}
	t->granted = 0;
	dlki_redis2_unlock(s);
	return rc;
}

int dlki_redis2_release_begin(struct dlk_ticket *base, dlk_time deadline,
			      struct dlk_error *err)
{
	struct redis2_ticket *t = (struct redis2_ticket *)base;
	struct redis2_session *s = (struct redis2_session *)base->session;
	int sent = 0;

	dlki_redis2_lock(s);
	if (t->granted && dlki_engine_is_up(s->engine)) {
		dlki_redis2_waiter_forget(t);
		dlki_redis2_op_prepare(&t->rel, t, DLKI_RELEASE, deadline);
		t->granted = 0;
		sent = dlki_submit(s->engine, &t->rel.base) == 0;
		t->granted = !sent;
	}
	if (sent)
		dlki_push(s->engine);
	dlki_redis2_unlock(s);
	return sent ? DLK_SENT : dlki_redis2_release(base, deadline, err);
}

/* Claims that the server has not confirmed are left to their lease. */
void dlki_redis2_release_all(struct dlk_session *base,
			     struct dlk_ticket *const t[], size_t n,
			     dlk_time deadline)
{
	struct redis2_session *s = (struct redis2_session *)base;
	struct redis2_call call;

	dlki_redis2_lock(s);
	for (size_t i = 0; i < n; i++)
		dlki_redis2_waiter_forget((struct redis2_ticket *)t[i]);
	dlki_redis2_call(&call, s, DLKI_RELEASE, t, n, deadline);
	dlki_redis2_unlock(s);
}
