/* SPDX-License-Identifier: Apache-2.0 */
/* Releasing one claim, or all claims of a client. */
#include "backends/memcached/batch.h"

int dlki_memc_release(struct dlk_ticket *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct memc_ticket *t = (struct memc_ticket *)base;
	const struct dlki_opcall_op *op = &t->rel;
	int granted = t->granted, rc = 0;
	struct dlki_opcall call;

	if (!t->asked.claim.asked)
		return 0;
	t->granted = 0;
	dlki_memc_call(&call, t, DLKI_RELEASE, deadline);
	dlki_memc_unwatch(t);
	if (op->base.outcome != DLKI_ANSWERED)
		rc = dlki_opcall_error(&call, op, err);
	else if (granted && !op->base.stood && !op->resent)
		rc = dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	dlki_opcall_end(&call);
	return rc;
}

static void add(struct memc_batch *b, struct dlki_opcall *call,
		struct memc_ticket *t)
{
	struct dlki_opcall_op *op;

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
