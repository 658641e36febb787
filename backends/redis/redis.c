/* SPDX-License-Identifier: Apache-2.0 */
/* The backend, and opening and closing a session. */
#include "backends/redis/redis.h"

#include "backends/redis/protocol/store.h"
#include "backends/redis/protocol/uri.h"
#include "core/net/tls_uri.h"
#include "dlock_config.h"

/* With key=plain: as often as clients of other libraries poll. */
enum { PLAIN_POLL_MAX_MS = 100 };

static void prepare_plain(struct dlk_session *base)
{
	if (dlk_param_int(base->uri, "key") != 0 &&
	    !dlk_param_given(base->uri, "retry_max") &&
	    base->poll_min_ms < PLAIN_POLL_MAX_MS)
		base->poll_max_ms = PLAIN_POLL_MAX_MS;
}

/* ---- Open and close ------------------------------------------------------ */

static void redis_close(struct dlk_session *base, dlk_time deadline)
{
	struct redis_session *s = dlki_redis_session(base);

	(void)deadline; /* close() waits for no answer */
	if (s->listens)
		(void)dlk_listen(base, -1, NULL);
	dlki_session_close(&s->loop);
	dlki_blocks_destroy(&s->ops);
	pthread_mutex_destroy(&s->listen_mu);
}

static struct dlki_session *server_of(struct dlk_session *base,
				      const char *name)
{
	(void)name;
	return &dlki_redis_session(base)->loop;
}

static int redis_open(struct dlk_session *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = dlki_redis_session(base);
	struct dlki_engine_options options = {
		.protocol = &dlki_redis_protocol,
		.news = &dlki_redis_news,
		.arg = &s->loop,
	};
	uint32_t db;
	int rc = dlki_redis_uri_check(base->uri, &db, err);

	if (rc != 0)
		return rc;
	prepare_plain(base);
	s->remote.server_of = server_of;
	pthread_mutex_init(&s->listen_mu, NULL);
	dlki_session_place(&s->loop, base, RD_DEFAULT_PORT, &options);
	if (dlki_redis_uri_is_tls(base->uri))
		rc = dlki_session_secure(&s->loop, &options, err);
	if (rc == 0)
		rc = dlki_session_open(&s->loop, &options, deadline, err);
	if (rc != 0)
		redis_close(base, deadline);
	return rc;
}

static const struct dlk_param params[] = { RD_URI_PARAMS, { 0 } };

#define BACKEND(schemes_, params_, summary_)                                   \
	{                                                                      \
		.size = sizeof(struct dlock_backend), .schemes = (schemes_),   \
		.summary = (summary_), .caps = RD_CAPS, .params = (params_),   \
		.session_size = sizeof(struct redis_session),                  \
		.ticket_size = sizeof(struct redis_ticket),                    \
		.open = redis_open, .close = redis_close,                      \
		.attempt = dlki_redis_attempt, .renew = dlki_redis_renew,      \
		.release = dlki_redis_release,                                 \
		.downgrade = dlki_redis_downgrade,                             \
		.inspect = dlki_remote_inspect, .list = dlki_redis_list,       \
		.break_ = dlki_remote_break, .resize = dlki_remote_resize,     \
		.release_all = dlki_redis_release_all,                         \
		.watch_wanted = dlki_redis_watch_wanted,                       \
		.revoke = dlki_remote_revoke,                                  \
		.release_begin = dlki_redis_release_begin,                     \
		.pump = dlki_redis_pump, .answers_later = 1,                   \
	}

static const char *const schemes[] = { "redis", "valkey", "redis+unix", NULL };

const struct dlock_backend dlki_redis_backend =
	BACKEND(schemes, params, "a Redis or Valkey server");

#if DLOCK_HAVE_TLS
static const char *const tls_schemes[] = { "rediss", "valkeys", NULL };

static const struct dlk_param tls_params[] = { RD_URI_PARAMS,
					       DLKI_TLS_PARAMS,
					       { 0 } };

const struct dlock_backend dlki_rediss_backend =
	BACKEND(tls_schemes, tls_params, "a Redis or Valkey server over TLS");
#endif
