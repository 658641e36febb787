/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/redis.h"

#include "core/base/error.h"

static enum dlk_renewal take_answer(struct redis_ticket *t,
				    const struct dlki_opcall *call,
				    struct dlk_error *err)
{
	enum dlk_renewal renewal;

	if (!t->ask) {
		if (err->code == 0)
			dlki_nomem(err);
		return DLK_UNKNOWN;
	}
	renewal = dlki_opcall_renewed(call, &t->ask->call, &t->base, err);
	dlki_redis_put(t->ask);
	return renewal;
}

void dlki_redis_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	struct dlki_opcall call;

	dlki_opcall_begin(&call, &dlki_redis_session(base)->loop, deadline);
	for (size_t i = 0; i < n; i++) {
		struct redis_op *op = dlki_redis_prepare(
			(struct redis_ticket *)t[i], DLKI_RENEW, deadline);

		if (op)
			dlki_opcall_add(&call, &op->call);
	}
	dlki_opcall_await(&call);
	for (size_t i = 0; i < n; i++)
		verdicts[i] = take_answer((struct redis_ticket *)t[i], &call,
					  err);
	dlki_opcall_end(&call);
}
