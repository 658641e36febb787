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

/* Begin the session's call for renewals, or go on with it; deadline 0: end what
 * is under way. */
static struct dlki_opcall *begin(struct redis_session *s, dlk_time deadline)
{
	struct dlki_opcall *call = &s->renewals;

	if (s->renews)
		dlki_opcall_resume(call);
	else
		dlki_opcall_begin(call, &s->loop, deadline);
	s->renews = 1;
	if (call->deadline < deadline || deadline == 0)
		call->deadline = deadline;
	return call;
}

static void await(struct dlki_opcall *call, dlk_time deadline)
{
	dlki_opcall_hurry(call);
	(void)dlki_opcall_await_until(call, deadline);
}

static int is_under_way(const struct redis_ticket *t)
{
	return t->ask && t->ask->call.call;
}

void dlki_redis_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = dlki_redis_session(base);
	struct dlki_opcall *call = begin(s, deadline);

	for (size_t i = 0; i < n; i++) {
		struct redis_ticket *one = (struct redis_ticket *)t[i];
		struct redis_op *op = NULL;

		if (!one->ask) /* else pending */
			op = dlki_redis_prepare(one, DLKI_RENEW, deadline);
		if (op)
			dlki_opcall_add(call, &op->call);
	}
	if (!t[0]->no_wait)
		await(call, deadline);
	for (size_t i = 0; i < n; i++) {
		struct redis_ticket *one = (struct redis_ticket *)t[i];

		verdicts[i] = is_under_way(one) ? DLK_PENDING :
						  take_answer(one, call, err);
	}
	if (!LIST_EMPTY(&call->ops)) {
		dlki_opcall_put_off(call, base, 0);
		return;
	}
	s->renews = 0;
	dlki_opcall_end(call);
}
