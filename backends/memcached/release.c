/* SPDX-License-Identifier: Apache-2.0 */
/* Releasing one claim, or all claims of a client. */
#include "backends/memcached/batch.h"

int dlki_memc_release(struct dlk_ticket *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct memc_ticket *t = (struct memc_ticket *)base;
	const struct dlki_opcall_op *op = &t->rel;
	struct dlki_opcall stack, *call;
	int rc = 0;

	if (t->ask.own) {
		const struct dlki_session *s = t->ask.session;

		dlki_session_lock(s);
		dlki_opcall_forgo(&t->ask);
		dlki_session_unlock(s);
	}
	if (!t->rel.own && !t->asked.claim.asked)
		return 0;
	call = dlki_memc_call(&stack, t, DLKI_RELEASE, deadline);
	if (!call)
		return DLK_LATER;
	dlki_memc_unwatch(t);
	if (op->base.outcome != DLKI_ANSWERED)
		rc = dlki_opcall_error(call, op, err);
	else if (t->granted && !op->base.stood && !op->resent)
		rc = dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	t->granted = 0;
	dlki_opcall_done(call);
	return rc;
}

static void add(struct memc_batch *b, struct dlki_opcall *call,
		struct memc_ticket *t)
{
	struct dlki_opcall_op *op;

	dlki_memc_forgo(t);
	dlki_memc_unwatch(t);
	if (!t->asked.claim.asked)
		return;
	op = dlki_memc_prepare(t, DLKI_RELEASE, b->deadline);
	op->base.closing = 1;
	dlki_opcall_add(call, op);
}

/* Release all.  Claims that the server has not confirmed are left to the
 * lease. */
void dlki_memc_release_all(struct dlk_session *base,
			   struct dlk_ticket *const t[], size_t n,
			   dlk_time deadline)
{
	struct memc_batch b = {
		.session = dlki_memc_session(base),
		.tickets = t,
		.n = n,
		.deadline = deadline,
		.add = add,
	};

	dlki_memc_batch(&b);
}
