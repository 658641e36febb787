/* SPDX-License-Identifier: Apache-2.0 */
/* What the URI says, and the session that it makes. */
#include "backends/redis/redis.h"
#include "core/utf8.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_MAX = 240 };

static int is_unix(const struct dlk_uri *uri)
{
	return strcmp(uri->scheme, "redis+unix") == 0;
}

/* "/5", "/" or nothing. */
static int database(struct redis_session *s, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->base.uri;
	const char *path = is_unix(uri) ? NULL : uri->path;
	uint32_t n = 0;

	s->db = (uint32_t)dlk_param_int(uri, "db");
	if (!path || !path[0] || !path[1])
		return 0;
	if (dlk_param_given(uri, "db"))
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: the database is given twice, by the path "
				"and by db=",
				uri->scheme);
	for (const char *p = path + 1; *p; p++) {
		int digit = *p >= '0' && *p <= '9';

		if (digit)
			n = n * 10 + (uint32_t)(*p - '0');
		if (!digit || n > 65535)
			return dlk_fail(err, DLOCK_EINVAL,
					"%s: the path must be the number of a "
					"database, /0 to /65535",
					uri->scheme);
	}
	s->db = n;
	return 0;
}

static int check_uri(const struct dlk_uri *uri, struct dlk_error *err)
{
	int named = uri->n_hosts > 0 && uri->hosts[0].name[0];

	if (is_unix(uri)) {
		if (named || !uri->path || !uri->path[0] || !uri->path[1])
			return dlk_fail(err, DLOCK_EINVAL,
					"redis+unix: write the socket's path, "
					"redis+unix:///run/redis.sock");
		return 0;
	}
	if (!named)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: write a host, %s://host:6379", uri->scheme,
				uri->scheme);
	if (uri->n_hosts > 1)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: several hosts: locks on one server are "
				"not those on another, so give the master only",
				uri->scheme);
	return 0;
}

int dlki_redis_open(struct dlk_session *base, dlk_time deadline,
		    struct dlk_error *err)
{
	struct redis_session *s = (struct redis_session *)base;
	size_t max = (size_t)dlk_param_int(base->uri, "pool");
	int rc = check_uri(base->uri, err);

	if (rc == 0)
		rc = database(s, err);
	if (rc == 0)
		rc = dlki_redis_inbox_init(s, err);
	if (rc != 0)
		return rc;
	s->order = dlk_param_int(base->uri, "order") == 0 ? 'f' : 'a';
	if (s->order == 'a')
		base->caps &= ~(uint32_t)DLOCK_CAP_FAIR;
	s->ttl_len = dlki_redis_digits(s->ttl, (uint64_t)base->ttl_ms);
	s->step_ms = dlk_param_int(base->uri, "close") / 2;
	if (s->step_ms > dlk_param_int(base->uri, "connect"))
		s->step_ms = dlk_param_int(base->uri, "connect");
	if (s->step_ms < 10)
		s->step_ms = 10;
	base->margin_ms = 1;
	s->label_len = dlki_utf8_clip(base->label, LABEL_MAX);
	s->clock_len = (size_t)snprintf(s->clock, sizeof(s->clock), "%s:clock",
					dlk_param_text(base->uri, "prefix"));
	s->pool = dlki_pool_new(&dlki_redis_pool_type, s, max, max);
	if (s->pool)
		rc = dlki_redis_greet(s, deadline, err);
	else
		rc = dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	if (rc != 0) {
		dlki_redis_inbox_free(s);
		dlki_pool_free(s->pool);
	}
	return rc;
}

void dlki_redis_close(struct dlk_session *base, dlk_time deadline)
{
	struct redis_session *s = (struct redis_session *)base;

	(void)deadline; /* nothing is waited for but the end of a thread */
	dlki_redis_inbox_free(s);
	dlki_pool_free(s->pool);
}
