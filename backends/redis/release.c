/* SPDX-License-Identifier: Apache-2.0 */
/* Release, also of all claims at once; and downgrade. */
#include "backends/redis/waiters.h"

#include "core/base/error.h"

/* Forget the ticket: news no longer matter to it. */
static void forget(struct redis_ticket *t)
{
	dlki_redis_waiter_forget(t);
	dlki_redis_watcher_forget(t);
}

static int take_answer(const struct redis_op *op,
		       const struct dlki_opcall *call, struct dlk_error *err)
{
	if (op->call.base.outcome != DLKI_ANSWERED)
		return dlki_opcall_error(call, &op->call, err);
	if (op->was_granted && !op->call.base.stood && !op->call.resent)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return 0;
}

int dlki_redis_release(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_call call;
	struct redis_op *op;
	int rc;

	if (t->ask) {
		const struct dlki_session *s = t->ask->call.session;

		dlki_session_lock(s);
		dlki_redis_forgo(t->ask);
		dlki_session_unlock(s);
	}
	if (!t->asked)
		return 0; /* and no news matter */
	op = dlki_redis_call(&call, t, DLKI_RELEASE, deadline);
	if (!op)
		return DLK_LATER;
	forget(t);
	t->granted = 0;
	rc = take_answer(op, call.call, err);
	dlki_redis_done(&call, op);
	return rc;
}

int dlki_redis_release_begin(struct dlk_ticket *base, dlk_time deadline,
			     struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	const struct dlki_session *s = &dlki_redis_session(base->session)->loop;
	struct redis_op *op = NULL;
	int sent;

	dlki_session_lock(s);
	if (t->granted && dlki_engine_is_up(s->engine))
		op = dlki_redis_prepare(t, DLKI_RELEASE, deadline);
	sent = op && dlki_submit(s->engine, &op->call.base) == 0;
	if (sent) {
		forget(t);
		t->granted = 0;
		dlki_push(s->engine); /* the ticket may be gone then */
	} else {
		dlki_redis_put(op);
	}
	dlki_session_unlock(s);
	return sent ? DLK_SENT : dlki_redis_release(base, deadline, err);
}

static void add_release(struct dlki_opcall *call, struct redis_ticket *t,
			dlk_time deadline)
{
	struct redis_op *op = dlki_redis_prepare(t, DLKI_RELEASE, deadline);

	if (!op) {
		dlki_nomem(&call->failed);
		return;
	}
	op->call.base.closing = 1;
	dlki_opcall_add(call, &op->call);
}

/* Release the tickets not released yet: 0, or the code of a failure. */
static int release_each(struct dlki_session *s, struct dlk_ticket *const t[],
			size_t n, dlk_time deadline)
{
	struct dlki_opcall call;

	dlki_opcall_begin(&call, s, deadline);
	for (size_t i = 0; i < n; i++) {
		struct redis_ticket *one = (struct redis_ticket *)t[i];

		dlki_redis_forgo(one->ask);
		dlki_redis_forgo(one->rel);
		forget(one);
		if (one->asked &&
		    (!one->rel || one->rel->call.base.outcome != DLKI_ANSWERED))
			add_release(&call, one, deadline);
	}
	dlki_opcall_await(&call);
	dlki_opcall_end(&call);
	return call.failed.code;
}

/* Release all.  Claims that the server has not confirmed are left to their
 * lease.  Tries once more without memory: other threads may have freed some. */
void dlki_redis_release_all(struct dlk_session *base,
			    struct dlk_ticket *const t[], size_t n,
			    dlk_time deadline)
{
	struct dlki_session *s = &dlki_redis_session(base)->loop;

	if (release_each(s, t, n, deadline) == DLOCK_ENOMEM)
		(void)release_each(s, t, n, deadline);
	dlki_session_lock(s);
	for (size_t i = 0; i < n; i++)
		dlki_redis_put(((struct redis_ticket *)t[i])->rel);
	dlki_session_unlock(s);
}

int dlki_redis_downgrade(struct dlk_ticket *base, dlk_time deadline,
			 struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	struct redis_call call;
	struct redis_op *op = dlki_redis_call(&call, t, DLKI_DOWNGRADE,
					      deadline);
	int rc = 0;

	if (op->call.base.outcome != DLKI_ANSWERED)
		rc = dlki_opcall_error(call.call, &op->call, err);
	else if (!op->call.base.stood)
		rc = dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	else
		base->request.mode = DLK_SHARED;
	t->lease_from = t->lease_heard = 0;
	dlki_redis_done(&call, op);
	return rc;
}
