/* SPDX-License-Identifier: Apache-2.0 */
/* Releasing one claim, or all that a client has. */
#include "backends/memcached/memcached.h"

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

/* Claims that the server has not confirmed are left to their lease. */
void dlki_memc_release_all(struct dlk_session *base,
			   struct dlk_ticket *const t[], size_t n,
			   dlk_time deadline)
{
	struct dlki_opcall call;

	dlki_opcall_begin(&call, &dlki_memc_session(base)->engine, deadline);
	for (size_t i = 0; i < n; i++) {
		struct memc_ticket *one = (struct memc_ticket *)t[i];
		struct dlki_opcall_op *op;

		dlki_memc_unwatch(one);
		if (!one->asked.claim.asked)
			continue;
		op = dlki_memc_prepare(one, DLKI_RELEASE, deadline);
		op->base.closing = 1;
		dlki_opcall_add(&call, op);
	}
	dlki_opcall_await(&call);
	dlki_opcall_end(&call);
}
