/* SPDX-License-Identifier: Apache-2.0 */
#include "core/away.h"

#include <dlock/backend.h>

#include "core/log.h"

int dlki_away_failed(struct dlock_client *c, const char *lock,
		     const struct dlk_error *err)
{
	dlk_time there = 0;

	if (err->code != DLOCK_EUNREACHABLE)
		return 0;
	if (atomic_compare_exchange_strong(&c->away_since, &there, dlk_now()))
		dlki_log_failed(c, DLKI_WARNING, lock, err,
				"the store does not answer: ");
	else
		dlki_log_failed(c, DLKI_DEBUG, lock, err, "");
	return 1;
}

void dlki_away_answered(struct dlock_client *c)
{
	dlk_time since = atomic_load(&c->away_since);

	if (since != 0 &&
	    atomic_compare_exchange_strong(&c->away_since, &since, 0))
		dlki_log(c, DLKI_WARNING,
			 "the store answers again, after %lld ms",
			 (long long)((dlk_now() - since) / DLK_MS));
}
