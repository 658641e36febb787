/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/store.h"
#include "core/base/digits.h"

void dlki_redis_store_downgrade(struct redis_store *s, struct dlki_op *op)
{
	const struct dlk_request *request = op->request;
	char payload[RD_PAYLOAD_SIZE], grant[RD_GRANT_SIZE];
	char used[DLKI_DIGITS];
	const struct redis_arg args[] = {
		dlki_redis_grant(request->owner, op->token, grant),
		s->ttl,
		dlki_redis_payload(request, s->ttl, payload),
		{ used, dlki_digits(used, op->token_used) },
	};
	const struct redis_script_call call = { RD_DOWNGRADE, args,
						op->token_used != 0 ? 4 : 3 };

	dlki_redis_store_call(s, op, &call);
}
