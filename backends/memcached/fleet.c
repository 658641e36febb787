/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing: the servers of a session. */
#include "backends/memcached/memcached.h"

#include <stdlib.h>

#include "core/base/error.h"

/* ---- The servers --------------------------------------------------------- */

/* Make the URI of one of several servers: the session's, with another place. */
static void place(struct memc_session *s, size_t i)
{
	struct memc_member m = dlki_memc_pool_member(s->pool, i);
	struct memc_server *server = &s->servers[i];
	struct dlk_uri *uri = &server->uri;

	/* The scheme of a server with a port is the session's, and says whether
	 * there is TLS. */
	*uri = *s->remote.base.uri;
	if (m.port == 0) {
		uri->scheme = "memcached+unix";
		uri->hosts = NULL;
		uri->n_hosts = 0;
		uri->path = m.name;
	} else {
		server->host = (struct dlk_host){ m.name, m.port };
		uri->hosts = &server->host;
		uri->n_hosts = 1;
		uri->path = NULL;
	}
	server->base.uri = uri;
}

static int make_pool(struct memc_session *s, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->remote.base.uri;
	int rc = dlki_memc_uri_check_login(uri, err);

	if (rc != 0)
		return rc;
	s->pool = dlki_memc_pool_new(uri, err);
	if (!s->pool)
		return err->code;
	s->n = (unsigned int)dlki_memc_pool_size(s->pool);
	for (size_t i = 0; dlki_memc_uri_is_tls(uri) && i < s->n; i++) {
		struct memc_member m = dlki_memc_pool_member(s->pool, i);

		if (m.port == 0)
			return dlk_fail(
				err, DLOCK_EINVAL,
				"%s: no TLS on the unix socket '%.100s' "
				"of the pool; give a host and a port, "
				"or write memcached:",
				uri->scheme, m.name);
	}
	return 0;
}

static int make_servers(struct memc_session *s, struct dlk_error *err)
{
	const struct dlk_uri *uri = s->remote.base.uri;
	int rc;

	s->n = 1;
	if (!dlki_memc_uri_is_unix(uri) && dlki_memc_pool_is(uri))
		rc = make_pool(s, err);
	else
		rc = dlki_memc_uri_check(uri, err);
	if (rc != 0)
		return rc;
	s->servers = calloc(s->n, sizeof(*s->servers));
	if (!s->servers)
		return dlki_nomem(err);
	for (size_t i = 0; i < s->n; i++) {
		s->servers[i].base = s->remote.base;
		s->servers[i].given.with_grants = s->n > 1;
		dlki_memc_digest(s->pool, i, s->servers[i].digest);
		if (s->pool)
			place(s, i);
	}
	return 0;
}

/* ---- Opening ------------------------------------------------------------- */

/* Begin to connect to all servers at once. */
static int begin(struct memc_session *s, struct dlk_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		int rc = dlki_memc_server_begin(&s->servers[i], err);

		if (rc != 0)
			return rc;
		if (s->n > 1)
			dlki_session_start(&s->servers[i].engine);
	}
	return 0;
}

/* Copy the agreement with the server, which is the same for all servers. */
static void agree(struct memc_session *s, const struct memc_server *server)
{
	const struct dlk_session *from = &server->base;
	struct dlk_session *base = &s->remote.base;
	struct memc_pauses pauses;

	base->ttl_ms = from->ttl_ms;
	base->margin_ms = from->margin_ms;
	base->linger_ms = from->linger_ms;
	base->check_ms = from->check_ms;
	base->caps = from->caps;
	pauses = dlki_memc_uri_pauses(base->uri, from->ttl_ms);
	base->poll_min_ms = pauses.min_ms;
	base->poll_max_ms = pauses.max_ms;
}

/* The client is open. */
static void tell_away(struct memc_session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct dlk_error *why = &s->servers[i].away;

		if (why->code != 0)
			dlk_log(&s->remote.base, 1,
				"memcached: server %zu of %u is away, and the "
				"locks whose names it keeps: %s",
				i + 1, s->n, why->text);
	}
}

/* Wait for the servers.  A server of a fleet may be away, as long as another
 * answers: the locks that it keeps wait for it, and no other lock does. */
static int await(struct memc_session *s, dlk_time deadline,
		 struct dlk_error *err)
{
	size_t answer = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct memc_server *server = &s->servers[i];
		int rc = dlki_memc_server_await(server, deadline,
						&server->away);

		if (rc == 0 && answer++ == 0)
			agree(s, server);
		if (rc != 0 && rc != DLOCK_EUNREACHABLE) {
			*err = server->away;
			return rc;
		}
	}
	if (answer == 0) {
		*err = s->servers[0].away;
		return err->code;
	}
	tell_away(s);
	return 0;
}

static struct dlki_session *server_of(struct dlk_session *base,
				      const char *name)
{
	return &dlki_memc_server_of(base, name)->engine;
}

int dlki_memc_open(struct dlk_session *base, dlk_time deadline,
		   struct dlk_error *err)
{
	struct memc_session *s = dlki_memc_session(base);
	int rc = make_servers(s, err);

	s->remote.server_of = server_of;
	if (rc == 0)
		rc = begin(s, err);
	if (rc == 0 && s->n > 1) /* silent servers leave time for another try */
		deadline -= (deadline - dlk_now()) / 2;
	if (rc == 0)
		rc = await(s, deadline, err);
	if (rc != 0)
		dlki_memc_close(base, deadline);
	return rc;
}

void dlki_memc_close(struct dlk_session *base, dlk_time deadline)
{
	struct memc_session *s = dlki_memc_session(base);

	(void)deadline; /* no server is asked */
	for (size_t i = 0; s->servers && i < s->n; i++)
		dlki_session_close(&s->servers[i].engine);
	free(s->servers);
	dlki_memc_pool_free(s->pool);
}
