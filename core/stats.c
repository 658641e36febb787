/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "core/base/error.h"
#include "core/guard.h"

void dlki_times_add(struct dlock_times *times, dlk_time ns)
{
	uint64_t us = ns > 0 ? (uint64_t)ns / 1000 : 0;
	int i = us > 0 ? (63 - __builtin_clzll(us)) / 2 : 0;

	if (i >= DLOCK_TIMES_BUCKETS)
		i = DLOCK_TIMES_BUCKETS - 1;
	times->count++;
	times->sum_us += us;
	times->bucket[i]++;
}

static int check_stats(const dlock_client *client,
		       const struct dlock_stats *out, struct dlk_error *err)
{
	if (!client || !out)
		return dlk_fail(err, DLOCK_EINVAL, "client or out is NULL");
	if (out->size <= offsetof(struct dlock_stats, asked))
		return dlk_fail(err, DLOCK_EINVAL,
				"dlock_stats.size is %zu: "
				"set it to sizeof(struct dlock_stats)",
				out->size);
	return dlki_client_ours(client, err);
}

int dlock_get_stats(dlock_client *client, struct dlock_stats *out)
{
	struct dlki_scope s = dlki_enter();
	int rc = check_stats(client, out, &s.err);
	struct dlock_stats now;

	if (rc == 0) {
		pthread_mutex_lock(&client->mu);
		now = client->stats;
		pthread_mutex_unlock(&client->mu);
		now.size = out->size < sizeof(now) ? out->size : sizeof(now);
		memcpy(out, &now, now.size);
	}
	return dlki_leave_with(&s, rc);
}
