/* SPDX-License-Identifier: Apache-2.0 */
/* redis: one server with an append-only file, synced at every write. */
#include "lab/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos/chaos.h"
#include "lab/clock.h"
#include "lab/fail.h"

#define STEP_MS INT64_C(40000)

static int start(struct chaos *c, const char *query)
{
	static const struct lab_redis_options options = { .aof = true,
							  .wall = true };
	struct lab_proxy_options way = { 0 };
	int port;

	c->server = lab_redis_start(&options);
	if (!c->server)
		return -1;
	way.to = lab_server_address(c->server);
	c->proxy = lab_proxy_new(&way);
	if (!c->proxy)
		return -1;
	for (int i = 0; i < 2; i++) {
		port = i ? c->server->port : lab_proxy_port(c->proxy);
		snprintf(c->uri[i], sizeof(c->uri[i]),
			 "redis://" LAB_LOOPBACK ":%d/%s", port, query);
	}
	return 0;
}

static void stop(struct chaos *c)
{
	lab_proxy_free(c->proxy);
	lab_server_free(c->server);
}

/* The server is private, so that every key is ours; prefix:clock stays.
 * Expired keys are counted until somebody looks: SCAN does. */
static int64_t left(struct chaos *c)
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

static int flush_all(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	chaos_wipe_begin(c);
	if (lab_redis_do(c->server, NULL, 0, "FLUSHALL") < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

static int flush_scripts(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	return lab_redis_do(c->server, NULL, 0, "SCRIPT FLUSH");
}

static int kill_clients(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	return lab_redis_do(c->server, NULL, 0, "CLIENT KILL TYPE normal");
}

static int kill_subscribers(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	return lab_redis_do(c->server, NULL, 0, "CLIENT KILL TYPE pubsub");
}

/* The server has looked at its clock again when this returns. */
static int step(struct chaos *c, int64_t ms)
{
	c->wall_ms += ms;
	if (lab_server_step_wall(c->server, c->wall_ms) < 0)
		return -1;
	return lab_redis_time_ms(c->server) < 0 ? -1 : 0;
}

/* All keys expire at once. */
static int step_ahead(struct chaos *c)
{
	chaos_wipe_begin(c);
	if (step(c, STEP_MS) < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

static int wall_ahead(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	return step_ahead(c);
}

static int wall_back(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	return step(c, -STEP_MS);
}

#define REDIS(what, text, cards, least, most, loses, begin_fn, end_fn)         \
	static const struct chaos_fault what = { .name = text,                 \
						 .lane = CHAOS_SERVER,         \
						 .weight = cards,              \
						 .min_pc = least,              \
						 .max_pc = most,               \
						 .begin = begin_fn,            \
						 .end = end_fn,                \
						 .wipes = loses }

REDIS(flush, "flushall", 2, 0, 1, true, flush_all, NULL);
REDIS(scripts, "script-flush", 2, 0, 1, false, flush_scripts, NULL);
REDIS(clients, "client-kill", 2, 0, 1, false, kill_clients, NULL);
REDIS(pubsub, "client-kill-pubsub", 2, 0, 1, false, kill_subscribers, NULL);
REDIS(ahead, "wall-ahead", 1, 0, 1, true, wall_ahead, NULL);
/* Longer than a lease, so that whoever holds something then was given it, or
 * had it renewed, by the clock that is behind: the way back loses all. */
REDIS(back, "wall-back", 1, 150, 400, false, wall_back, step_ahead);

static const struct chaos_fault *const faults[] = { CHAOS_PREY_FAULTS,
						    CHAOS_NET_FAULTS,
						    &chaos_server_pause_short,
						    &chaos_server_pause_long,
						    &chaos_server_kill,
						    &chaos_server_empty,
						    &flush,
						    &scripts,
						    &clients,
						    &pubsub,
						    &ahead,
						    &back,
						    NULL };

const struct chaos_store chaos_redis = {
	.name = "redis",
	.leases = true,
	.match = "EVALSHA",
	.start = start,
	.stop = stop,
	.left = left,
	.faults = faults,
};
