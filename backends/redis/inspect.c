/* SPDX-License-Identifier: Apache-2.0 */
/* List; core/loop/verbs.h has inspect and break. */
#include "backends/redis/redis.h"

int dlki_redis_list(struct dlk_session *base,
		    void (*each)(const struct dlock_lock_info *info, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .each.lock = each,
					       .each_arg = arg } };

	return dlki_opcall_one(&op, &dlki_redis_session(base)->loop, DLKI_LIST,
			       deadline, err);
}
