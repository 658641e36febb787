/* SPDX-License-Identifier: Apache-2.0 */
/* The backend. */
#include "backends/memcached/memcached.h"

static const char *const schemes[] = { "memcached", "memcached+unix", NULL };

const struct dlock_backend dlki_memcached_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "locks in a memcached server or a fleet, polled",
	.caps = DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |
		DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_EXPIRE |
		DLOCK_CAP_INSPECT,
	.params = dlki_memc_params,
	.session_size = sizeof(struct memc_session),
	.ticket_size = sizeof(struct memc_ticket),
	.open = dlki_memc_open,
	.close = dlki_memc_close,
	.attempt = dlki_memc_attempt,
	.renew = dlki_memc_renew,
	.release = dlki_memc_release,
	.inspect = dlki_memc_inspect,
	.break_ = dlki_memc_break,
	.release_all = dlki_memc_release_all,
	.watch_wanted = dlki_memc_watch_wanted,
	.revoke = dlki_memc_revoke,
};
