/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/engine/call.h"

static enum dlk_renewal take_answer(struct redis2_ticket *t)
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

void dlki_redis2_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		       enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		       struct dlk_error *err)
{
	struct redis2_session *s = (struct redis2_session *)base;
	struct redis2_call call;

	dlki_redis2_call_begin(&call, s, deadline);
	for (size_t i = 0; i < n; i++) {
		struct redis2_ticket *one = (struct redis2_ticket *)t[i];

		dlki_redis2_op_prepare(&one->ask, s, one, DLKI_RENEW, deadline);
		dlki_redis2_call_add(&call, &one->ask);
	}
	dlki_redis2_call_await(&call);
	for (size_t i = 0; i < n; i++) {
		struct redis2_ticket *one = (struct redis2_ticket *)t[i];

		verdicts[i] = take_answer(one);
		if (verdicts[i] == DLK_UNKNOWN && err->code == 0)
			dlki_redis2_call_error(&call, &one->ask, err);
	}
	dlki_redis2_call_end(&call);
}
