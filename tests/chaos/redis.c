/* SPDX-License-Identifier: Apache-2.0 */
/* redis: a server with an append-only file, synced at every write, and a
 * replica to take over. */
#include "lab/servers/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos/chaos.h"
#include "chaos/tls.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"

#define STEP_MS INT64_C(40000)
#define SYNC_MS INT64_C(10000)

/* The store's part of struct chaos. */
struct redis {
	struct chaos_tls tls[2]; /* of the server and the next, by turns */
	int turn;
	struct lab_proxy *straight; /* without faults of the network */
	struct lab_server *next;    /* the replica to be promoted */
	struct lab_proxy *feed;
	int64_t set_back; /* when the clock was; 0: it is not */
};

enum { PORTS = 5 }; /* for TLS: another process may have a port */

static struct lab_server *start_server(struct chaos_tls *tls)
{
	const struct lab_redis_options o = { .aof = true,
					     .wall = true,
					     .config = tls->config };
	struct lab_server *s = lab_redis_start(&o);

#if CHAOS_TLS
	for (int i = 1; !s && tls->port > 0 && i < PORTS; i++) {
		if (!strcasestr(lab_errmsg(), "in use") ||
		    chaos_tls_new(tls) < 0)
			break;
		s = lab_redis_start(&o);
	}
#endif
	return s;
}

/* Where the clients are served. */
static struct lab_address address(const struct lab_server *s,
				  const struct chaos_tls *tls)
{
	struct lab_address to = lab_server_address(s);

	if (tls->port > 0)
		to.port = tls->port;
	return to;
}

static struct lab_proxy *proxy_to(struct lab_address to)
{
	struct lab_proxy_options o = { .to = to };

	return lab_proxy_new(&o);
}

/* Have two servers serve TLS, and the URI say by which authority. */
static int prepare_tls(struct chaos *c, const char **query)
{
#if CHAOS_TLS
	static char text[256];
	struct redis *r = c->store;

	if (!c->o.store->over_tls)
		return 0;
	if (chaos_tls_new(&r->tls[0]) < 0 || chaos_tls_new(&r->tls[1]) < 0)
		return -1;
	snprintf(text, sizeof(text), "%s%ctls_ca=%s", *query,
		 **query ? '&' : '?', chaos_tls_ca());
	*query = text;
#else
	(void)c;
	(void)query;
#endif
	return 0;
}

static int start_redis(struct chaos *c, const char *query)
{
	struct redis *r = calloc(1, sizeof(*r));
	struct lab_address to;

	if (!r)
		return lab_fail("out of memory");
	c->store = r;
	if (prepare_tls(c, &query) < 0)
		return -1;
	c->server = start_server(&r->tls[0]);
	if (!c->server ||
	    chaos_start_proxies(c, c->o.store->name, &c->server, 1, query) < 0)
		return -1;
	to = address(c->server, &r->tls[0]);
	if (lab_proxy_aim(c->proxy, &to) < 0)
		return -1;
	r->straight = proxy_to(to);
	if (!r->straight)
		return -1;
	snprintf(c->uri[1], sizeof(c->uri[1]), "%s://" LAB_LOOPBACK ":%d/%s",
		 c->o.store->name, lab_proxy_port(r->straight), query);
	return 0;
}

static void stop_redis(struct chaos *c)
{
	struct redis *r = c->store;

	if (r) {
		lab_proxy_free(r->feed);
		lab_server_free(r->next);
		lab_proxy_free(r->straight);
	}
	free(r);
}

/* The server is private, so every key is ours; prefix:clock stays.  SCAN makes
 * the server drop expired keys, which would be counted otherwise. */
static int64_t count_left(struct chaos *c)
{
	static char reply[65536];
	const char *keys;

	if (lab_redis_do(c->server, reply, sizeof(reply),
			 "SCAN 0 MATCH *{* COUNT 100000") < 0)
		return -1;
	/* "*2", "$1", "0", and an array */
	keys = strchr(reply + 1, '*');
	return keys ? strtoll(keys + 1, NULL, 10) :
		      lab_fail("SCAN answered '%.40s'", reply);
}

static int flush_all(struct chaos *c)
{
	chaos_wipe_begin(c);
	if (lab_redis_do(c->server, NULL, 0, "FLUSHALL") < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

static int flush_scripts(struct chaos *c)
{
	return lab_redis_do(c->server, NULL, 0, "SCRIPT FLUSH");
}

static int kill_clients(struct chaos *c)
{
	return lab_redis_do(c->server, NULL, 0, "CLIENT KILL TYPE normal");
}

static int kill_subscribers(struct chaos *c)
{
	return lab_redis_do(c->server, NULL, 0, "CLIENT KILL TYPE pubsub");
}

/* Wait until the server has read the clock again. */
static int step(struct chaos *c, int64_t ms)
{
	c->wall_ms += ms;
	if (lab_server_step_wall(c->server, c->wall_ms) < 0)
		return -1;
	return lab_redis_time_ms(c->server) < 0 ? -1 : 0;
}

/* All keys expire at once. */
static int wall_ahead(struct chaos *c)
{
	chaos_wipe_begin(c);
	if (step(c, STEP_MS) < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

/* Tokens rise unless the clock is set back over a flush, or over a restart that
 * forgets: then the key with the last token is gone until the next grant. */
static int wall_back(struct chaos *c)
{
	struct redis *r = c->store;
	char knows[8];

	r->set_back = 0;
	if (lab_redis_do(c->server, knows, sizeof(knows),
			 "EXISTS dlock:clock") < 0)
		return -1;
	if (strcmp(knows, "1") != 0)
		return 0;
	if (step(c, -STEP_MS) < 0)
		return -1;
	r->set_back = lab_now();
	return 0;
}

/* Step back.  A claim granted before the fault, and not renewed since, has the
 * rest of the lease by the right clock; so the run may end right after this. */
static int wall_right(struct chaos *c)
{
	struct redis *r = c->store;
	int64_t behind = lab_now() - r->set_back;

	if (!r->set_back)
		return 0;
	chaos_wipe_begin(c);
	if (step(c, STEP_MS) < 0)
		return -1;
	chaos_wipe_end(c, behind > c->o.ttl_ms * LAB_MS);
	return 0;
}

/* From here on the replica receives no write. */
static int fall_behind(struct chaos *c)
{
	struct redis *r = c->store;

	r->next = start_server(&r->tls[!r->turn]);
	r->feed = proxy_to(lab_server_address(c->server));
	if (!r->next || !r->feed ||
	    lab_server_step_wall(r->next, c->wall_ms) < 0 ||
	    lab_redis_follow(r->next, c->server, lab_proxy_port(r->feed)) < 0 ||
	    lab_redis_wait_synced(r->next, SYNC_MS) < 0)
		return -1;
	chaos_wipe_begin(c);
	lab_proxy_hole(r->feed, LAB_DOWN, true);
	return 0;
}

/* The replica takes over.  It may have received any claim, so no loss is
 * certain. */
static int promote(struct chaos *c)
{
	struct redis *r = c->store;
	struct lab_address to = address(r->next, &r->tls[!r->turn]);

	if (lab_redis_follow(r->next, NULL, 0) < 0 ||
	    lab_proxy_aim(c->proxy, &to) < 0 ||
	    lab_proxy_aim(r->straight, &to) < 0)
		return -1;
	lab_server_free(c->server);
	lab_proxy_free(r->feed);
	c->server = r->next;
	r->turn = !r->turn;
	r->next = NULL;
	r->feed = NULL;
	chaos_wipe_end(c, false);
	return 0;
}

static const struct chaos_fault own_faults[] = {
	CHAOS_FAULT("flushall", CHAOS_SERVER, 2, 0, 1, .begin = flush_all,
		    .wipes = true),
	CHAOS_FAULT("script-flush", CHAOS_SERVER, 2, 0, 1,
		    .begin = flush_scripts),
	CHAOS_FAULT("client-kill", CHAOS_SERVER, 2, 0, 1,
		    .begin = kill_clients),
	CHAOS_FAULT("client-kill-pubsub", CHAOS_SERVER, 2, 0, 1,
		    .begin = kill_subscribers),
	CHAOS_FAULT("wall-ahead", CHAOS_SERVER, 1, 0, 1, .begin = wall_ahead,
		    .wipes = true),
	/* Longer than a lease: all claims were granted or renewed by the clock
	 * that is behind, and the step back loses them. */
	CHAOS_FAULT("wall-back", CHAOS_SERVER, 1, 150, 400, .begin = wall_back,
		    .end = wall_right),
	CHAOS_FAULT("failover", CHAOS_SERVER, 2, 10, 150, .begin = fall_behind,
		    .end = promote, .wipes = true),
	CHAOS_NO_FAULT
};

#define STORE(scheme, tls, shares, text)                                       \
	{                                                                      \
		.name = (scheme), .leases = true, .over_tls = (tls),           \
		.match = (text), .in_order = (shares), .start = start_redis,   \
		.stop = stop_redis, .left = count_left,                        \
		.faults = { chaos_process_faults, chaos_net_faults,            \
			    chaos_server_pauses,  chaos_server_kill,           \
			    chaos_server_empty,   own_faults },                \
	}
const struct chaos_store chaos_redis = STORE("redis", false, true, "EVALSHA");
#if CHAOS_TLS
/* The beginning of a record of requests, whatever they are.  TLS finds a hole
 * in the stream. */
const struct chaos_store chaos_rediss = STORE("rediss", true, false,
					      "\x17\x03\x03");
#endif
