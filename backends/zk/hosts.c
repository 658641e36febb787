/* SPDX-License-Identifier: Apache-2.0 */
/* The servers of the URI. */
#include "backends/zk/hosts.h"
#include "backends/zk/look.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <dlock/backend.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_NS (500 * DLK_MS)
#define PAUSE_NS (1000 * DLK_MS)
#define ZK_PORT 2181u

/* Each server gets a share of the time for opening. */
static void set_times(struct zk_session *s, const struct dlk_session *base)
{
	dlk_time sixth = base->ttl_ms * DLK_MS / 6;

	s->config.ttl_ms = (int)base->ttl_ms;
	s->tick_ms = dlk_param_int(base->uri, "tick");
	s->hosts.connect_ns = dlk_param_int(base->uri, "connect") * DLK_MS /
			      (int64_t)(s->hosts.n + 1);
	if (s->hosts.connect_ns > sixth)
		s->hosts.connect_ns = sixth;
	s->hosts.patience_ns = s->hosts.connect_ns;
}

/* To the client library, all before the last colon is the address, without
 * brackets. */
static int add_host(struct zk_session *s, const struct dlk_host *host,
		    struct dlk_error *err)
{
	char *text = NULL, *list = NULL;
	uint32_t draw = 0;
	size_t at;

	if (dlk_random(&draw, sizeof(draw), err) != 0)
		return err->code;
	if (asprintf(&text, "%s:%u", host->name,
		     host->port ? (unsigned int)host->port : ZK_PORT) < 0)
		return dlki_nomem(err);
	at = draw % ++s->hosts.n;
	s->hosts.host[s->hosts.n - 1] = s->hosts.host[at];
	s->hosts.host[at] = text;
	if (asprintf(&list, "%s%s%s", s->hosts.shown ? s->hosts.shown : "",
		     s->hosts.shown ? "," : "", text) < 0)
		return dlki_nomem(err);
	free(s->hosts.shown);
	s->hosts.shown = list;
	return 0;
}

int dlki_zk_hosts_set(struct zk_session *s, const struct dlk_session *base,
		      struct dlk_error *err)
{
	const struct dlk_uri *uri = base->uri;
	int rc = 0;

	s->hosts.host = calloc(uri->n_hosts, sizeof(s->hosts.host[0]));
	if (!s->hosts.host)
		return dlki_nomem(err);
	for (size_t i = 0; i < uri->n_hosts && rc == 0; i++)
		rc = add_host(s, &uri->hosts[i], err);
	set_times(s, base);
	return rc;
}

void dlki_zk_hosts_free(struct zk_session *s)
{
	for (size_t i = 0; i < s->hosts.n; i++)
		free(s->hosts.host[i]);
	free(s->hosts.host);
	free(s->hosts.shown);
}

/* ---- Why there is no connection ------------------------------------------ */

/* Read the server's first bytes, in answer to a word known to ZooKeeper.  Redis
 * and memcached read lines, and wait for the end of this line. */
static int ask(const struct zk_look *l, char *bytes, size_t size,
	       dlk_time until, struct dlk_error *why)
{
	dlk_time now = dlk_now();
	size_t got = 0;
	int rc = dlki_zk_look_ask(l, "srvr", 4, why);

	if (rc == 0)
		rc = dlki_zk_look_hear(l, bytes, size - 1, &got,
				       now + (until - now) / 2, why);
	if (rc == 0 || !dlki_zk_look_is_quiet(l))
		return rc;
	rc = dlki_zk_look_ask(l, "\r\n", 2, why);
	return rc != 0 ?
		       rc :
		       dlki_zk_look_hear(l, bytes, size - 1, &got, until, why);
}

/* Another store at this address, by its first bytes; or NULL. */
static const char *other_store(const char *bytes)
{
	if (strncmp(bytes, "-ERR", 4) == 0 || strncmp(bytes, "-NOAUTH", 7) == 0)
		return "Redis: use redis:// for it";
	return strncmp(bytes, "ERROR", 5) == 0 ?
		       "memcached: use memcached:// for it" :
		       NULL;
}

/* The client library tries again, and does not report the error. */
static void look_at(struct zk_look *l, const struct dlk_host *host,
		    dlk_time until, struct dlk_error *why)
{
	char bytes[256] = "";
	int rc = dlki_zk_look_begin(l, host->name,
				    host->port ? host->port : (uint16_t)ZK_PORT,
				    until, why);
	/* A server may have closed the connection before connect() is known to
	 * be done. */
	int closed = rc != 0 &&
		     (l->refused_by == EPIPE || l->refused_by == ECONNRESET);

	if (rc != 0 && !closed)
		return;
	if (rc == 0)
		rc = ask(l, bytes, sizeof(bytes), until, why);
	if (closed || (rc != 0 && !dlki_zk_look_is_quiet(l)))
		/* The server accepts a connection too many, and closes it. */
		dlk_fail(why, DLOCK_EUNREACHABLE,
			 "%.60s ends connections as soon as they are made: it "
			 "may have as many of this host as its maxClientCnxns "
			 "allows (60 by default)",
			 l->peer);
	else if (rc != 0)
		dlk_fail(why, DLOCK_EUNREACHABLE,
			 "%.60s accepts connections and does not answer",
			 l->peer);
	else if (other_store(bytes))
		dlk_fail(why, DLOCK_EUNREACHABLE, "%.60s is %s", l->peer,
			 other_store(bytes));
	else if (strstr(bytes, "not currently serving"))
		dlk_fail(why, DLOCK_EUNREACHABLE,
			 "%.60s is up and does not serve: its ensemble has no "
			 "quorum",
			 l->peer);
	else
		dlk_fail(why, DLOCK_EUNREACHABLE,
			 "%.60s answers, but began no session in time",
			 l->peer);
}

static void look_at_all(const struct zk_session *s, const struct dlk_uri *uri,
			dlk_time deadline, struct dlk_error *all)
{
	for (size_t i = 0; i < uri->n_hosts; i++) {
		dlk_time now = dlk_now();
		dlk_time most = (deadline - now) / (dlk_time)(uri->n_hosts - i);
		struct zk_look l = ZK_NO_LOOK;
		struct dlk_error why = { 0 };

		if (most <= 0)
			return;
		l.resolves = s->attendant != NULL;
		look_at(&l, &uri->hosts[i],
			now + (most < PROBE_NS ? most : PROBE_NS), &why);
		dlki_zk_look_end(&l);
		dlk_fail(all,
			 why.code == DLOCK_EEXHAUSTED ? why.code :
							DLOCK_EUNREACHABLE,
			 "%s%s %s", all->text, i == 0 ? ":" : ";", why.text);
	}
}

void dlki_zk_hosts_why(struct zk_session *s, const struct dlk_uri *uri,
		       dlk_time deadline, struct dlk_error *err)
{
	struct dlk_error why = { 0 };
	dlk_time now = dlk_now();
	int look;

	pthread_mutex_lock(&s->mu);
	look = now < deadline &&
	       (s->hosts.looked == 0 || now >= s->hosts.looked + PAUSE_NS);
	if (look)
		s->hosts.looked = now;
	else if (s->hosts.why.code != 0)
		*err = s->hosts.why;
	dlk_fail(&why, DLOCK_EUNREACHABLE, "no connection%s%s",
		 s->ended ? " since " : "", s->ended ? s->ended : "");
	pthread_mutex_unlock(&s->mu);
	if (!look)
		return;
	look_at_all(s, uri, deadline, &why);
	*err = why;
	pthread_mutex_lock(&s->mu);
	s->hosts.why = why;
	pthread_mutex_unlock(&s->mu);
}
