/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/memcached.h"

static enum dlk_renewal take_answer(struct memc_ticket *t)
{
	const struct dlki_op *op = &t->ask.base;

	if (op->outcome != DLKI_ANSWERED)
		return DLK_UNKNOWN;
	if (!op->stood)
		return DLK_GONE;
	t->base.since = op->since;
	t->base.lease_ms = op->lease_ms;
	return DLK_RENEWED;
}

void dlki_memc_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		     enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		     struct dlk_error *err)
{
	struct dlki_opcall call;

	dlki_opcall_begin(&call, &dlki_memc_session(base)->engine, deadline);
	for (size_t i = 0; i < n; i++)
		dlki_opcall_add(&call,
				dlki_memc_prepare((struct memc_ticket *)t[i],
						  DLKI_RENEW, deadline));
	dlki_opcall_await(&call);
	for (size_t i = 0; i < n; i++) {
		struct memc_ticket *one = (struct memc_ticket *)t[i];

		verdicts[i] = take_answer(one);
		if (verdicts[i] == DLK_UNKNOWN && err->code == 0)
			dlki_opcall_error(&call, &one->ask, err);
	}
	dlki_opcall_end(&call);
}
