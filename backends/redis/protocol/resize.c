/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/answer.h"
#include "backends/redis/protocol/store.h"
#include "core/base/digits.h"

void dlki_redis_store_resize(struct redis_store *s, struct dlki_op *op,
			     dlk_time now)
{
	char digits[24];
	const struct redis_arg limit = {
		digits, dlki_digits(digits, op->request->limit)
	};
	const struct redis_script_call call = { RD_RESIZE, &limit, 1 };

	(void)now;
	dlki_redis_store_call(s, op, &call);
}

enum redis_taken dlki_redis_store_resized(struct redis_store *s,
					  const struct redis_answer *a)
{
	int64_t done;

	(void)s;
	if (!dlki_redis_number(a->reply, 0, &done))
		return RD_SENSELESS;
	dlki_answered(a->op, done != 0);
	return RD_TAKEN;
}
