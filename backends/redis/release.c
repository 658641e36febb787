/* SPDX-License-Identifier: Apache-2.0 */
/* Release, also of all claims at once; and downgrade. */
#include "backends/redis/waiters.h"

/* Forget the ticket: news no longer matter to it. */
static void forget(struct redis_ticket *t)
{
	dlki_redis_waiter_forget(t);
	dlki_redis_watcher_forget(t);
}

/* The attempt does not come that was prepared: the server may still see its
 * request. */
static void forgo_attempt(struct redis_ticket *t)
{
	if (!t->ask.begun)
		return;
	dlki_opcall_op_forgo(&t->ask);
	t->ask.begun = 0;
	t->asked = 1;
}

int dlki_redis_release(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	const struct dlki_opcall_op *op = &t->rel;
	struct dlki_opcall call;
	int rc = 0;

	if (!t->ask.begun && !t->asked)
		return 0; /* and no news matter */
	if (t->ask.begun) {
		dlki_session_lock(t->ask.session);
		forgo_attempt(t);
		dlki_session_unlock(t->ask.session);
	}
	dlki_redis_call(&call, t, DLKI_RELEASE, deadline);
	forget(t);
	t->granted = 0;
	if (op->base.outcome != DLKI_ANSWERED)
		rc = dlki_opcall_error(&call, op, err);
	else if (t->was_granted && !op->base.stood && !op->resent)
		rc = dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	dlki_opcall_end(&call);
	return rc;
}

int dlki_redis_release_begin(struct dlk_ticket *base, dlk_time deadline,
			     struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	const struct dlki_session *s = &dlki_redis_session(base->session)->loop;
	int sent = 0;

	dlki_session_lock(s);
	if (t->granted && dlki_engine_is_up(s->engine)) {
		(void)dlki_redis_prepare(t, DLKI_RELEASE, deadline);
		sent = dlki_submit(s->engine, &t->rel.base) == 0;
	}
	if (sent) {
		forget(t);
		t->granted = 0;
		dlki_push(s->engine); /* the ticket may be gone then */
	}
	dlki_session_unlock(s);
	return sent ? DLK_SENT : dlki_redis_release(base, deadline, err);
}

static void add_release(struct dlki_opcall *call, struct redis_ticket *t,
			dlk_time deadline)
{
	struct dlki_opcall_op *op = dlki_redis_prepare(t, DLKI_RELEASE,
						       deadline);

	op->base.closing = 1;
	dlki_opcall_add(call, op);
}

/* Release all.  Claims that the server has not confirmed are left to their
 * lease.  Tries once more without memory: other threads may have freed some. */
void dlki_redis_release_all(struct dlk_session *base,
			    struct dlk_ticket *const t[], size_t n,
			    dlk_time deadline)
{
	struct dlki_opcall call;
	int again = 0;

	do {
		dlki_opcall_begin(&call, &dlki_redis_session(base)->loop,
				  deadline);
		for (size_t i = 0; i < n; i++)
			forgo_attempt((struct redis_ticket *)t[i]);
		for (size_t i = 0; i < n; i++) {
			struct redis_ticket *one = (struct redis_ticket *)t[i];

			forget(one);
			if (one->asked &&
			    (!again || one->rel.base.outcome != DLKI_ANSWERED))
				add_release(&call, one, deadline);
		}
		dlki_opcall_await(&call);
		dlki_opcall_end(&call);
	} while (call.failed.code == DLOCK_ENOMEM && !again++);
}

int dlki_redis_downgrade(struct dlk_ticket *base, dlk_time deadline,
			 struct dlk_error *err)
{
	struct redis_ticket *t = (struct redis_ticket *)base;
	const struct dlki_opcall_op *op = &t->ask;
	struct dlki_opcall call;
	int rc = 0;

	dlki_redis_call(&call, t, DLKI_DOWNGRADE, deadline);
	if (op->base.outcome != DLKI_ANSWERED)
		rc = dlki_opcall_error(&call, op, err);
	else if (!op->base.stood)
		rc = dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
	else
		base->request.mode = DLK_SHARED;
	t->lease_from = t->lease_heard = 0;
	dlki_opcall_end(&call);
	return rc;
}
