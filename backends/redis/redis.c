/* SPDX-License-Identifier: Apache-2.0 */
/* The backend, and opening and closing a session. */
#include "backends/redis/redis.h"

#include <stdio.h>
#include <string.h>

#include "backends/redis/protocol/store.h"
#include "backends/redis/protocol/uri.h"
#include "core/net/tls_uri.h"
#include "core/world/real.h"
#include "dlock_config.h"

/* A request has as long as the core gives one: until then no connection is
 * taken for dead. */
static int64_t patience_ms(const struct dlk_uri *uri)
{
	int64_t ms = dlk_param_int(uri, "connect");

	if (ms > dlk_param_int(uri, "close"))
		ms = dlk_param_int(uri, "close");
	if (ms < dlk_param_int(uri, "ask"))
		ms = dlk_param_int(uri, "ask");
	return ms;
}

/* With key=plain: as often as clients of other libraries poll. */
enum { PLAIN_POLL_MAX_MS = 100 };

static void prepare_plain(struct dlk_session *base)
{
	if (dlk_param_int(base->uri, "key") != 0 &&
	    !dlk_param_given(base->uri, "retry_max") &&
	    base->poll_min_ms < PLAIN_POLL_MAX_MS)
		base->poll_max_ms = PLAIN_POLL_MAX_MS;
}

/* For messages. */
static void name_server(struct redis_session *s)
{
	const struct dlk_uri *uri = s->base.uri;
	const struct dlk_host *host = uri->hosts;
	int v6;

	if (dlki_redis_uri_is_unix(uri)) {
		snprintf(s->server, sizeof(s->server), "%.110s", uri->path);
		return;
	}
	v6 = strchr(host->name, ':') != NULL;
	snprintf(s->server, sizeof(s->server), "%s%.100s%s:%u", v6 ? "[" : "",
		 host->name, v6 ? "]" : "",
		 (unsigned int)(host->port ? host->port : RD_DEFAULT_PORT));
}

/* ---- Open and close ------------------------------------------------------ */

static void redis_close(struct dlk_session *base, dlk_time deadline)
{
	struct redis_session *s = (struct redis_session *)base;

	(void)deadline; /* only the end of a thread is waited for */
	dlki_redis_listen_no_more(s);
	if (s->engine) {
		dlki_drive_end(s->engine);
		dlki_engine_free(s->engine);
	}
	dlki_real_free(s->world);
	dlki_tls_context_free(s->tls);
	pthread_mutex_destroy(&s->listen_mu);
}

static int prepare_tls(struct redis_session *s, struct dlk_error *err)
{
	const char *warning;
	int rc;

	if (!dlki_redis_uri_is_tls(s->base.uri))
		return 0;
	rc = dlki_tls_open(&s->tls, &warning, s->base.uri, err);
	if (rc == 0 && warning)
		dlk_log(&s->base, 1, "%s: %s", s->server, warning);
	return rc;
}

static int start_engine(struct redis_session *s, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->base.uri;
	struct dlki_engine_options options = {
		.protocol = &dlki_redis_protocol,
		.uri = uri,
		.label = s->base.label,
		.news = &dlki_redis_news,
		.arg = s,
		.connect_ms = dlk_param_int(uri, "connect"),
		.patience_ms = patience_ms(uri),
	};
	int rc = prepare_tls(s, err);

	if (rc != 0)
		return rc;
	if (dlki_redis_uri_is_unix(uri)) {
		options.path = uri->path;
	} else {
		options.host = uri->hosts->name;
		options.port = uri->hosts->port ? uri->hosts->port :
						  RD_DEFAULT_PORT;
	}
	s->world = dlki_real_new(err);
	if (!s->world)
		return err->code;
	options.world = s->world;
	options.tls = s->tls;
	s->engine = dlki_engine_new(&options, err);
	if (!s->engine)
		return err->code;
	rc = dlki_drive_begin(s->engine, DLKI_BIT(DLKI_ANSWERS), err);
	if (rc == 0)
		return 0;
	dlki_engine_free(s->engine);
	s->engine = NULL;
	return rc;
}

/* Until the server has greeted us, or cannot. */
static int await_greeting(struct redis_session *s, dlk_time deadline,
			  struct dlk_error *err)
{
	int up;

	dlki_redis_lock(s);
	(void)dlki_drive(s->engine, s->opening, deadline);
	s->opening = NULL;
	up = dlki_engine_is_up(s->engine);
	if (!up)
		dlki_engine_why(s->engine, err);
	dlki_redis_unlock(s);
	if (!up && err->code == 0)
		dlk_fail(err, DLOCK_EUNREACHABLE, "%s: not connected in time",
			 s->server);
	return up ? 0 : err->code;
}

static int redis_open(struct dlk_session *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	struct dlki_waiter waiter;
	uint32_t db;
	int rc = dlki_redis_uri_check(base->uri, &db, err);

	if (rc != 0)
		return rc;
	name_server(s);
	prepare_plain(base);
	pthread_mutex_init(&s->listen_mu, NULL);
	dlki_waiter_init(&waiter, DLKI_ANSWERS);
	s->opening = &waiter;
	rc = start_engine(s, err);
	if (rc == 0)
		rc = await_greeting(s, deadline, err);
	if (rc != 0)
		redis_close(base, deadline);
	return rc;
}

static const struct dlk_param params[] = { RD_URI_PARAMS, { 0 } };

#define BACKEND(schemes_, params_, summary_)                                   \
	{                                                                      \
		.size = sizeof(struct dlock_backend), .schemes = (schemes_),   \
		.summary = (summary_),                                         \
		.caps = DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED |                  \
			DLOCK_CAP_COUNT | DLOCK_CAP_FENCE |                    \
			DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_FAIR |             \
			DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE |                    \
			DLOCK_CAP_INSPECT | DLOCK_CAP_LIST | DLOCK_CAP_WANTED, \
		.params = (params_),                                           \
		.session_size = sizeof(struct redis_session),                  \
		.ticket_size = sizeof(struct redis_ticket),                    \
		.open = redis_open, .close = redis_close,                      \
		.attempt = dlki_redis_attempt, .renew = dlki_redis_renew,      \
		.release = dlki_redis_release,                                 \
		.downgrade = dlki_redis_downgrade,                             \
		.inspect = dlki_redis_inspect, .list = dlki_redis_list,        \
		.break_ = dlki_redis_break,                                    \
		.release_all = dlki_redis_release_all,                         \
		.watch_wanted = dlki_redis_watch_wanted,                       \
		.revoke = dlki_redis_revoke,                                   \
		.release_begin = dlki_redis_release_begin,                     \
		.pump = dlki_redis_pump,                                       \
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
