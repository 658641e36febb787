/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/protocol/store.h"

/* "owner token": identifies a grant. */
static struct redis_arg grant_of(const struct dlki_op *op, char out[52])
{
	char token[24];
	size_t len = dlki_redis_digits(token, op->token);

	memcpy(out, op->request->owner, RD_STORE_OWNER);
	out[RD_STORE_OWNER] = ' ';
	memset(out + RD_STORE_OWNER + 1, '0', RD_STORE_TOKEN);
	if (len <= RD_STORE_TOKEN)
		memcpy(out + RD_STORE_OWNER + 1 + RD_STORE_TOKEN - len, token,
		       len);
	return (struct redis_arg){ out, RD_STORE_OWNER + 1 + RD_STORE_TOKEN };
}

void dlki_redis_store_renew(struct redis_store *s, struct dlki_op *op)
{
	char grant[52];
	struct redis_script_call call = {
		.text = RD_TEXT_RENEW,
		.key = op->request->key,
		.args = { grant_of(op, grant), { s->ttl, s->ttl_len } },
		.n_args = 2,
	};

	dlki_redis_store_call(s, op, &call);
}

int dlki_redis_store_renewed(struct dlki_op *op,
			     const struct redis_reply *reply)
{
	int64_t left_ms;

	if (!dlki_redis_number(reply, -1, &left_ms))
		return 0;
	dlki_answered(op, left_ms >= 0);
	return 1;
}
