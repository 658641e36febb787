/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <string.h>

#include "core/client.h"
#include "core/error.h"

int dlock_get_stats(dlock_client *client, struct dlock_stats *out)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = 0;

	if (!client || !out)
		rc = dlk_fail(&err, DLOCK_EINVAL, "client or out is NULL");
	else if (out->size <= offsetof(struct dlock_stats, asked))
		rc = dlk_fail(&err, DLOCK_EINVAL,
			      "dlock_stats.size is %zu: "
			      "set it to sizeof(struct dlock_stats)",
			      out->size);
	else
		rc = dlki_client_ours(client, &err);
	if (rc == 0) {
		size_t size = out->size;
		struct dlock_stats now;

		pthread_mutex_lock(&client->mu);
		now = client->stats;
		pthread_mutex_unlock(&client->mu);
		if (size > sizeof(now))
			size = sizeof(now);
		now.size = size;
		memcpy(out, &now, size);
	} else {
		dlki_report(&err);
	}
	dlki_leave(border);
	return rc;
}
