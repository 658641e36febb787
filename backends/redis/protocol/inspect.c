/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/store.h"

void dlki_redis_store_inspect(struct redis_store *s, struct dlki_op *op)
{
	static const struct redis_arg only = { "holders", 7 };
	const struct redis_script_call call = { RD_INSPECT, &only,
						op->request->holders_only ? 1 :
									    0 };

	if (dlki_redis_store_may_ask(s, op))
		dlki_redis_store_call(s, op, &call);
}

enum redis_taken dlki_redis_store_inspected(struct redis_store *s,
					    const struct redis_answer *a)
{
	struct redis_participant one;
	uint32_t limit = 0;

	(void)s;
	if (a->reply->type != RD_ARRAY)
		return RD_SENSELESS;
	/* Check all rows before reporting any: the op may be sent again. */
	for (size_t i = 0; i < a->reply->len; i++) {
		if (!dlki_redis_limit_row(a->reply->parts[i], &limit) &&
		    !dlki_redis_participant(a->reply->parts[i], &one))
			return RD_SENSELESS;
	}
	for (size_t i = 0; i < a->reply->len; i++) {
		if (dlki_redis_limit_row(a->reply->parts[i], &limit))
			continue;
		dlki_redis_participant(a->reply->parts[i], &one);
		one.participant.limit = limit;
		dlki_row_participant(a->op, &one.participant);
	}
	dlki_answered(a->op, 1);
	return RD_TAKEN;
}
