/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/batch.h"

struct renewal {
	enum dlk_renewal *verdicts;
	struct dlk_error *err;
};

static void add(struct memc_batch *b, struct dlki_opcall *call,
		struct memc_ticket *t)
{
	dlki_opcall_add(call, dlki_memc_prepare(t, DLKI_RENEW, b->deadline));
}

static void take(struct memc_batch *b, struct dlki_opcall *call, size_t i)
{
	struct memc_ticket *t = (struct memc_ticket *)b->tickets[i];
	struct renewal *r = b->arg;

	r->verdicts[i] = dlki_opcall_renewed(call, &t->ask, &t->base, r->err);
}

void dlki_memc_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		     enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		     struct dlk_error *err)
{
	struct renewal r = { verdicts, err };
	struct memc_batch b = {
		.session = dlki_memc_session(base),
		.tickets = t,
		.n = n,
		.deadline = deadline,
		.no_wait = t[0]->no_wait,
		.add = add,
		.take = take,
		.arg = &r,
	};

	dlki_memc_batch_part(&b);
	for (size_t i = 0; i < n; i++) {
		if (((const struct memc_ticket *)t[i])->in_batch)
			verdicts[i] = DLK_PENDING;
	}
}
