/* SPDX-License-Identifier: Apache-2.0 */
/* Inspect, resize, break, and list. */
#include "backends/redis/redis.h"

int dlki_redis_inspect(struct dlk_session *base,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .request = request,
					       .each.participant = each,
					       .each_arg = arg } };

	return dlki_opcall_one(&op, &dlki_redis_session(base)->loop,
			       DLKI_INSPECT, deadline, err);
}

int dlki_redis_resize(struct dlk_session *base,
		      const struct dlk_request *request, dlk_time deadline,
		      struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .request = request } };
	int rc = dlki_opcall_one(&op, &dlki_redis_session(base)->loop,
				 DLKI_RESIZE, deadline, err);

	return rc == 0 && !op.base.stood ? DLOCK_EINVAL : rc;
}

int dlki_redis_break(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	char about[DLKI_ABOUT] = "";
	struct dlki_opcall_op op = {
		.base = { .request = request, .about = about }, .anew = 1
	};

	return dlki_opcall_one(&op, &dlki_redis_session(base)->loop, DLKI_BREAK,
			       deadline, err);
}

int dlki_redis_list(struct dlk_session *base,
		    void (*each)(const struct dlock_lock_info *info, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct dlki_opcall_op op = { .base = { .each.lock = each,
					       .each_arg = arg } };

	return dlki_opcall_one(&op, &dlki_redis_session(base)->loop, DLKI_LIST,
			       deadline, err);
}
