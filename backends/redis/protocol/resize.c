/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/protocol/store.h"
#include "core/base/digits.h"

void dlki_redis_store_resize(struct redis_store *s, struct dlki_op *op)
{
	char digits[24];
	const struct redis_arg limit = {
		digits, dlki_digits(digits, op->request->limit)
	};
	const struct redis_script_call call = { RD_RESIZE, &limit, 1 };

	dlki_redis_store_call(s, op, &call);
}
