/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <stdio.h>
#include <string.h>

#include "lab/fail.h"

enum { MOST = 32 };

/* What scene_end() is to clean up. */
static dlock_client *clients[MOST];
static dlock_lock *locks[MOST];
static int n_clients, n_locks;

dlock_client *by_port(const struct scene *s, int port, const char *query)
{
	char uri[256];
	dlock_client *c = NULL;

	CHECK_INT(n_clients, <, MOST);
	/* A busy machine needs time to answer. */
	snprintf(uri, sizeof(uri),
		 "memcached://127.0.0.1:%d/?protocol=%s%s%s%s", port,
		 s->protocol, strstr(query, "ask=") ? "" : "&ask=500ms",
		 query[0] ? "&" : "", query);
	CHECK_OK(dlock_open(&c, uri, NULL));
	clients[n_clients++] = c;
	return c;
}

dlock_client *by_proxy(const struct scene *s, const char *query)
{
	return by_port(s, lab_proxy_port(s->proxy), query);
}

dlock_client *direct(const struct scene *s, const char *query)
{
	return by_port(s, s->server->port, query);
}

void grown_up(const struct scene *s)
{
	dlock_close(direct(s, ""));
	n_clients--;
}

struct scene scene_new(const char *protocol,
		       const struct lab_memcached_options *options)
{
	struct scene s = { .protocol = protocol };
	struct lab_proxy_options to = { 0 };

	s.server = lab_memcached_start(options);
	if (!s.server)
		FAIL("%s", lab_errmsg());
	to.to = lab_server_address(s.server);
	s.proxy = lab_proxy_new(&to);
	if (!s.proxy)
		FAIL("%s", lab_errmsg());
	grown_up(&s);
	return s;
}

void scene_end(struct scene *s)
{
	while (n_locks > 0)
		dlock_free(locks[--n_locks]);
	while (n_clients > 0)
		dlock_close(clients[--n_clients]);
	lab_proxy_free(s->proxy);
	lab_server_free(s->server);
}

dlock_lock *mutex(dlock_client *c, const char *name)
{
	dlock_lock *l = NULL;

	CHECK_OK(dlock_mutex_new(&l, c, name));
	CHECK_INT(n_locks, <, MOST);
	locks[n_locks++] = l;
	return l;
}

dlock_hold *take(dlock_lock *l)
{
	dlock_hold *h = NULL;

	CHECK_OK(dlock_acquire(l, patience_ms(), &h));
	return h;
}

void give(dlock_hold *h)
{
	CHECK_OK(dlock_release(h));
}

int64_t ask(dlock_lock *l, int64_t timeout_ms, int rc)
{
	dlock_hold *h = NULL;
	int64_t begun = now_ms();

	CHECK_RC(dlock_acquire(l, timeout_ms, &h), rc);
	return now_ms() - begun;
}

void found_lost(const dlock_hold *h, dlock_client *c, int64_t since_ms)
{
	EVENTUALLY(dlock_check(h) == DLOCK_ELOST);
	CHECK_INT(now_ms() - since_ms, <=,
		  dlock_ttl_ms(c) / 3 + 100 + slack_ms());
}
