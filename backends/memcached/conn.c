/* SPDX-License-Identifier: Apache-2.0 */
/* Connections: what a server must tell before it is trusted. */
#include "memcached.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/error.h"

#define DEFAULT_PORT 11211
#define SECOND (INT64_C(1000) * DLKI_MS)

/*
 * Tokens count from the second in which the server was started, in units that
 * no server can use up by its writes: 2^22 a second.  They stay below 2^53
 * until 2038.  Two runs that begin within one second would give the same, so
 * none is taken before that second is over for certain; memcached's account of
 * its age begins with 2.
 */
#define TOKENS_PER_SECOND (UINT64_C(1) << 22)
#define ADULT_S 4

static int speaks_meta(const struct memc_about *a)
{
	if (a->major != 1 || a->minor != 6)
		return a->major > 1 || (a->major == 1 && a->minor > 6);
	return a->patch >= 13;
}

static int ask_meta(struct memc_conn *c, const struct memc_about *a,
		    dlk_time deadline, struct dlk_error *err)
{
	const char *line;
	int rc;

	if (speaks_meta(a)) {
		dlki_memc_put(c, "mn\r\n");
		rc = dlki_memc_send(c, deadline, err);
		if (rc == 0)
			rc = dlki_memc_line(c, &line, deadline, err);
		if (rc != 0)
			return rc;
		c->meta = strcmp(line, "MN") == 0;
	}
	if (c->meta || c->session->protocol != MEMC_META)
		return 0;
	return dlk_fail(err, DLOCK_ENOTSUP,
			"%s: version %ld.%ld.%ld has no meta protocol, 1.6.13 "
			"does; use protocol=text",
			c->net.who, a->major, a->minor, a->patch);
}

static int greet(struct memc_conn *c, dlk_time deadline, struct dlk_error *err)
{
	struct memc_about a = { 0 };
	dlk_time asked = dlk_now();
	uint64_t born_s;
	int rc;

	dlki_memc_put(c, "stats\r\n");
	rc = dlki_memc_send(c, deadline, err);
	if (rc == 0)
		rc = dlki_memc_about(c, &a, asked, deadline, err);
	if (rc == 0 && c->session->protocol != MEMC_TEXT)
		rc = ask_meta(c, &a, deadline, err);
	if (rc != 0)
		return rc;
	born_s = a.time_s - a.uptime_s;
	if (born_s >= UINT64_C(1) << 40)
		return dlk_fail(err, DLOCK_EPROTO,
				"%s: the server's clock is wrong", c->net.who);
	c->base = born_s * TOKENS_PER_SECOND;
	if (a.uptime_s < ADULT_S)
		c->grants_from = dlk_now() +
				 (int64_t)(ADULT_S - a.uptime_s) * SECOND;
	return 0;
}

static int reach(struct memc_conn *c, dlk_time deadline, struct dlk_error *err)
{
	const struct dlk_uri *uri = c->session->base.uri;
	uint16_t port;

	if (uri->n_hosts == 0)
		return dlki_net_unix(&c->net, uri->path, deadline, err);
	port = uri->hosts[0].port;
	return dlki_net_tcp(&c->net, uri->hosts[0].name,
			    port ? port : DEFAULT_PORT, deadline, err);
}

static void shut(struct dlki_pooled *pooled)
{
	struct memc_conn *c = (struct memc_conn *)(void *)pooled;

	dlki_net_close(&c->net);
	free(c);
}

static struct dlki_pooled *make(void *session, dlk_time deadline,
				struct dlk_error *err)
{
	static _Atomic uint64_t serials;
	struct memc_conn *c = malloc(sizeof(*c));

	if (!c) {
		dlki_nomem(err);
		return NULL;
	}
	memset(c, 0, offsetof(struct memc_conn, in));
	c->session = session;
	c->net = (struct dlki_net)DLKI_NET_INIT;
	c->serial = atomic_fetch_add(&serials, 1) + 1;
	if (reach(c, deadline, err) != 0 || greet(c, deadline, err) != 0) {
		shut(&c->pooled);
		return NULL;
	}
	return &c->pooled;
}

static int usable(struct dlki_pooled *pooled)
{
	return dlki_net_quiet(&((struct memc_conn *)(void *)pooled)->net);
}

const struct dlki_pool_type dlki_memc_pool_type = {
	.open = make,
	.close = shut,
	.usable = usable,
};

int dlki_memc_with(struct memc_session *s,
		   int (*work)(struct memc_conn *c, void *arg,
			       dlk_time deadline, struct dlk_error *err),
		   void *arg, dlk_time deadline, struct dlk_error *err)
{
	for (;;) {
		struct dlki_pooled *pooled;
		int fresh, rc;

		pooled = dlki_pool_take(s->pool, deadline, &fresh, err);
		if (!pooled)
			return err->code;
		rc = work((struct memc_conn *)(void *)pooled, arg, deadline,
			  err);
		dlki_pool_give(s->pool, pooled, rc == 0);
		if (rc != DLOCK_EUNREACHABLE || fresh || dlk_now() >= deadline)
			return rc;
	}
}
