/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/redis/redis.h"

void dlki_redis_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		      struct dlk_error *err)
{
	struct dlki_opcall call;

	dlki_opcall_begin(&call, &dlki_redis_session(base)->loop, deadline);
	for (size_t i = 0; i < n; i++)
		dlki_opcall_add(&call,
				dlki_redis_prepare((struct redis_ticket *)t[i],
						   DLKI_RENEW, deadline));
	dlki_opcall_await(&call);
	for (size_t i = 0; i < n; i++) {
		struct redis_ticket *one = (struct redis_ticket *)t[i];

		verdicts[i] = dlki_opcall_renewed(&call, &one->ask, &one->base,
						  err);
	}
	dlki_opcall_end(&call);
}
