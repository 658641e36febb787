/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/call.h"

static enum dlk_renewal take_answer(struct redis_ticket *t)
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

void dlki_redis_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_call call;

	dlki_redis_call_begin(&call, s, deadline);
	for (size_t i = 0; i < n; i++) {
		struct redis_ticket *one = (struct redis_ticket *)t[i];

		dlki_redis_op_prepare(&one->ask, s, one, DLKI_RENEW, deadline);
		dlki_redis_call_add(&call, &one->ask);
	}
	dlki_redis_call_await(&call);
	for (size_t i = 0; i < n; i++) {
		struct redis_ticket *one = (struct redis_ticket *)t[i];

		verdicts[i] = take_answer(one);
		if (verdicts[i] == DLK_UNKNOWN && err->code == 0)
			dlki_redis_call_error(&call, &one->ask, err);
	}
	dlki_redis_call_end(&call);
}
