/* SPDX-License-Identifier: Apache-2.0 */
/* The backend, its URI, and opening and closing a session. */
#include "backends/redis/redis.h"

#include <stdio.h>
#include <string.h>

#include "backends/redis/command.h"
#include "backends/redis/conn.h"
#include "backends/redis/notify.h"
#include "backends/redis/uri.h"

enum { LABEL_MAX = 240 };

/* With key=plain: as often as clients of other libraries poll. */
enum { PLAIN_POLL_MAX_MS = 100 };

static const char *const schemes[] = { "redis", "valkey", "redis+unix", NULL };

/* ---- The session's server ------------------------------------------------ */

static void *greet_server(void *arg, const struct dlk_net *net,
			  char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
			  struct dlk_error *err)
{
	return dlki_redis_conn_greet(arg, net, identity, deadline, err);
}

static void close_connection(void *c)
{
	dlki_redis_conn_close(c);
}

static void server_changed(void *arg, const char *text)
{
	struct redis_session *s = arg;

	dlk_pool_renew(s->pool);
	dlki_redis_notify_server_changed(s);
	dlk_log(&s->base, 1, "%s", text);
	dlk_verify_all(&s->base);
}

static void log_warning(void *arg, const char *text)
{
	struct redis_session *s = arg;

	dlk_log(&s->base, 1, "%s", text);
}

static const struct dlk_server_type server_type = {
	.told_by = "INFO",
	.greet = greet_server,
	.close = close_connection,
	.moved = server_changed,
	.warn = log_warning,
};

static struct dlk_server *server_of_uri(struct redis_session *s)
{
	const struct dlk_uri *uri = s->base.uri;
	const struct dlk_host *host = uri->hosts;

	if (dlki_redis_uri_is_unix(uri))
		return dlk_server_new(&server_type, s, uri->path, NULL, 0);
	return dlk_server_new(&server_type, s, NULL, host->name,
			      host->port ? host->port : RD_DEFAULT_PORT);
}

/* ---- Open and close ------------------------------------------------------ */

/* A foreign client neither queues nor tells anybody of a release. */
static void prepare_plain(struct redis_session *s)
{
	struct dlk_session *base = &s->base;

	s->plain = dlk_param_int(base->uri, "key") != 0;
	if (!s->plain)
		return;
	s->order = 'a';
	base->caps &= ~(uint32_t)(DLOCK_CAP_FAIR | DLOCK_CAP_WAKE |
				  DLOCK_CAP_WANTED | DLOCK_CAP_SHARED |
				  DLOCK_CAP_COUNT);
	if (!dlk_param_given(base->uri, "retry_max") &&
	    base->poll_min_ms < PLAIN_POLL_MAX_MS)
		base->poll_max_ms = PLAIN_POLL_MAX_MS;
}

static void prepare_session(struct redis_session *s)
{
	const struct dlk_uri *uri = s->base.uri;

	s->order = dlk_param_int(uri, "order") == 0 ? 'f' : 'a';
	if (s->order == 'a')
		s->base.caps &= ~(uint32_t)DLOCK_CAP_FAIR;
	prepare_plain(s);
	s->ttl_len = dlki_redis_digits(s->ttl, (uint64_t)s->base.ttl_ms);
	s->step_ms = dlk_param_int(uri, "close") / 2;
	if (s->step_ms > dlk_param_int(uri, "connect"))
		s->step_ms = dlk_param_int(uri, "connect");
	if (s->step_ms < 10)
		s->step_ms = 10;
	s->base.margin_ms = 1;
	s->label_len = dlk_utf8_clip(s->base.label, LABEL_MAX);
	s->clock_len = (size_t)snprintf(s->clock, sizeof(s->clock), "%s:clock",
					dlk_param_text(uri, "prefix"));
}

static void redis_close(struct dlk_session *base, dlk_time deadline)
{
	struct redis_session *s = (struct redis_session *)base;

	(void)deadline; /* it waits for nothing but the end of a thread */
	dlki_redis_notify_free(s);
	dlk_pool_free(s->pool);
	dlk_server_free(s->server);
}

static int redis_open(struct dlk_session *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	size_t max = (size_t)dlk_param_int(base->uri, "pool");
	int rc = dlki_redis_uri_check(base->uri, &s->db, err);

	if (rc == 0)
		rc = dlki_redis_notify_init(s, err);
	if (rc != 0)
		return rc;
	prepare_session(s);
	s->server = server_of_uri(s);
	s->pool = dlk_pool_new(&dlki_redis_pool_type, s, max, max);
	if (s->pool && s->server)
		rc = dlki_redis_check_server(s, deadline, err);
	else
		rc = dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	if (rc != 0)
		redis_close(base, deadline);
	return rc;
}

const struct dlock_backend dlki_redis_backend = {
	.size = sizeof(struct dlock_backend),
	.schemes = schemes,
	.summary = "a Redis or Valkey server",
	.caps = DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED | DLOCK_CAP_COUNT |
		DLOCK_CAP_FENCE | DLOCK_CAP_FENCE_DURABLE | DLOCK_CAP_FAIR |
		DLOCK_CAP_WAKE | DLOCK_CAP_EXPIRE | DLOCK_CAP_INSPECT |
		DLOCK_CAP_LIST | DLOCK_CAP_WANTED,
	.params = dlki_redis_params,
	.session_size = sizeof(struct redis_session),
	.ticket_size = sizeof(struct redis_ticket),
	.open = redis_open,
	.close = redis_close,
	.attempt = dlki_redis_attempt,
	.renew = dlki_redis_renew,
	.release = dlki_redis_release,
	.downgrade = dlki_redis_downgrade,
	.inspect = dlki_redis_inspect,
	.list = dlki_redis_list,
	.break_ = dlki_redis_break,
	.release_all = dlki_redis_release_all,
	.watch_wanted = dlki_redis_watch_wanted,
	.revoke = dlki_redis_revoke,
	.release_begin = dlki_redis_release_begin,
	.pump = dlki_redis_pump,
};
