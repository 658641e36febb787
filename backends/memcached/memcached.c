/* SPDX-License-Identifier: Apache-2.0 */
/* The backends. */
#include "backends/memcached/memcached.h"

#include "backends/memcached/pool/options.h"
#include "core/net/tls_uri.h"
#include "dlock_config.h"

#define BACKEND(schemes_, params_, summary_)                                   \
	{                                                                      \
		.size = sizeof(struct dlock_backend), .schemes = (schemes_),   \
		.summary = (summary_), .caps = MEMC_CAPS, .params = (params_), \
		.session_size = sizeof(struct memc_session),                   \
		.ticket_size = sizeof(struct memc_ticket),                     \
		.open = dlki_memc_open, .close = dlki_memc_close,              \
		.attempt = dlki_memc_attempt, .renew = dlki_memc_renew,        \
		.release = dlki_memc_release, .inspect = dlki_remote_inspect,  \
		.break_ = dlki_remote_break, .resize = dlki_remote_resize,     \
		.release_all = dlki_memc_release_all,                          \
		.watch_wanted = dlki_memc_watch_wanted,                        \
		.revoke = dlki_remote_revoke, .answers_later = 1,              \
	}

static const char *const schemes[] = { "memcached", "memcached+unix", NULL };

static const struct dlk_param params[] = { MEMC_URI_PARAMS,
					   MEMC_POOL_PARAMS,
					   { 0 } };

const struct dlock_backend dlki_memcached_backend = BACKEND(
	schemes, params, "locks in a memcached server or a fleet, polled");

#if DLOCK_HAVE_TLS
static const char *const tls_schemes[] = { "memcacheds", NULL };

static const struct dlk_param tls_params[] = { MEMC_URI_PARAMS,
					       MEMC_POOL_PARAMS,
					       DLKI_TLS_PARAMS,
					       { 0 } };

const struct dlock_backend dlki_memcacheds_backend =
	BACKEND(tls_schemes, tls_params,
		"locks in a memcached server or a fleet over TLS, polled");
#endif
