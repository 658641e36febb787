/* SPDX-License-Identifier: Apache-2.0 */
/* Inspect, break, and list. */
#include "backends/redis/call.h"

int dlki_redis_inspect(struct dlk_session *base,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_op op = { .base = { .request = request,
					 .each.participant = each,
					 .each_arg = arg } };

	dlki_redis_op_prepare(&op, s, NULL, DLKI_INSPECT, deadline);
	return dlki_redis_call_session(s, &op, deadline, err);
}

int dlki_redis_break(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	char about[DLKI_ABOUT] = "";
	struct redis_op op = { .base = { .request = request, .about = about } };

	dlki_redis_op_prepare(&op, s, NULL, DLKI_BREAK, deadline);
	return dlki_redis_call_session(s, &op, deadline, err);
}

int dlki_redis_list(struct dlk_session *base,
		    void (*each)(const struct dlock_lock_info *info, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct redis_op op = { .base = { .each.lock = each, .each_arg = arg } };

	dlki_redis_op_prepare(&op, s, NULL, DLKI_LIST, deadline);
	return dlki_redis_call_session(s, &op, deadline, err);
}
