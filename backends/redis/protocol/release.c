/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "backends/redis/answer.h"
#include "backends/redis/protocol/store.h"

/* The key keeps the token until a second after the clock has passed it. */
void dlki_redis_store_release(struct redis_store *s, struct dlki_op *op)
{
	char expected[52], token[24], until[24], used[24];
	size_t len = dlki_redis_digits(token, op->token);
	struct redis_script_call call = {
		.text = RD_TEXT_RELEASE,
		.key = op->request->key,
		.args = { { expected, RD_STORE_OWNER + 2 } },
		.n_args = 1,
	};

	memcpy(expected, "0 ", 2);
	memcpy(expected + 2, op->request->owner, RD_STORE_OWNER);
	if (len == RD_STORE_TOKEN) {
		expected[RD_STORE_OWNER + 2] = ' ';
		memcpy(expected + RD_STORE_OWNER + 3, token, RD_STORE_TOKEN);
		call.args[0].len += 1 + RD_STORE_TOKEN;
		call.args[1] = (struct redis_arg){ token, RD_STORE_TOKEN };
		call.args[2].text = until;
		call.args[2].len = dlki_redis_digits(until,
						     op->token / 1000 + 1000);
		call.n_args = 3;
	}
	if (call.n_args == 3 && op->token_used != 0) {
		call.args[3].text = used;
		call.args[3].len = dlki_redis_digits(used, op->token_used);
		call.n_args = 4;
	}
	dlki_redis_store_call(s, op, &call);
}

int dlki_redis_store_released(struct dlki_op *op,
			      const struct redis_reply *reply)
{
	int64_t had;

	if (!dlki_redis_number(reply, 0, &had))
		return 0;
	dlki_answered(op, had != 0);
	return 1;
}
