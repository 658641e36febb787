/* SPDX-License-Identifier: Apache-2.0 */
/* redis: a server with an append-only file, synced at every write; or another
 * one that takes over. */
#include "lab/redis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chaos/chaos.h"
#include "lab/clock.h"
#include "lab/fail.h"

#define STEP_MS INT64_C(40000)
#define SYNC_MS INT64_C(10000)

static const struct lab_redis_options options = { .aof = true, .wall = true };

/* Beside what any store has. */
struct redis {
	struct lab_proxy *straight; /* what has no faults of the net */
	struct lab_server *next;    /* to be promoted, and what feeds it */
	struct lab_proxy *feed;
	int64_t set_back; /* when the clock was */
};

static struct lab_proxy *way_to(const struct lab_server *s)
{
	struct lab_proxy_options way = { .to = lab_server_address(s) };

	return lab_proxy_new(&way);
}

static int start(struct chaos *c, const char *query)
{
	struct redis *r = calloc(1, sizeof(*r));

	if (!r)
		return lab_fail("out of memory");
	c->store = r;
	c->server = lab_redis_start(&options);
	if (!c->server)
		return -1;
	c->proxy = way_to(c->server);
	r->straight = way_to(c->server);
	if (!c->proxy || !r->straight)
		return -1;
	for (int i = 0; i < 2; i++)
		snprintf(c->uri[i], sizeof(c->uri[i]),
			 "redis://" LAB_LOOPBACK ":%d/%s",
			 lab_proxy_port(i ? r->straight : c->proxy), query);
	return 0;
}

static void stop(struct chaos *c)
{
	struct redis *r = c->store;

	if (r) {
		lab_proxy_free(r->feed);
		lab_server_free(r->next);
		lab_proxy_free(r->straight);
	}
	free(r);
	c->store = NULL;
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
static int wall_ahead(struct chaos *c, struct chaos_draw *d)
{
	(void)d;
	chaos_wipe_begin(c);
	if (step(c, STEP_MS) < 0)
		return -1;
	chaos_wipe_end(c, true);
	return 0;
}

static int wall_back(struct chaos *c, struct chaos_draw *d)
{
	struct redis *r = c->store;

	(void)d;
	if (step(c, -STEP_MS) < 0)
		return -1;
	r->set_back = lab_now();
	return 0;
}

/* The way back.  What was granted before and not renewed since still has its
 * time by the clock that is right: so if the run's end comes this soon. */
static int wall_right(struct chaos *c)
{
	struct redis *r = c->store;
	int64_t behind = lab_now() - r->set_back;

	chaos_wipe_begin(c);
	if (step(c, STEP_MS) < 0)
		return -1;
	chaos_wipe_end(c, behind > c->o.ttl_ms * LAB_MS);
	return 0;
}

/* From here on a replica hears nothing of what the server does. */
static int fall_behind(struct chaos *c, struct chaos_draw *d)
{
	struct redis *r = c->store;

	(void)d;
	r->next = lab_redis_start(&options);
	r->feed = way_to(c->server);
	if (!r->next || !r->feed ||
	    lab_server_step_wall(r->next, c->wall_ms) < 0 ||
	    lab_redis_follow(r->next, c->server, lab_proxy_port(r->feed)) < 0 ||
	    lab_redis_wait_synced(r->next, SYNC_MS) < 0)
		return -1;
	chaos_wipe_begin(c);
	lab_proxy_hole(r->feed, LAB_DOWN, true);
	return 0;
}

/* It takes over.  What it knows still stands, so that nothing is lost for
 * certain. */
static int promote(struct chaos *c)
{
	struct redis *r = c->store;
	struct lab_address to = lab_server_address(r->next);

	if (lab_redis_follow(r->next, NULL, 0) < 0 ||
	    lab_proxy_aim(c->proxy, &to) < 0 ||
	    lab_proxy_aim(r->straight, &to) < 0)
		return -1;
	lab_server_free(c->server);
	lab_proxy_free(r->feed);
	c->server = r->next;
	r->next = NULL;
	r->feed = NULL;
	chaos_wipe_end(c, false);
	return 0;
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
REDIS(back, "wall-back", 1, 150, 400, false, wall_back, wall_right);

REDIS(failover, "failover", 2, 10, 150, true, fall_behind, promote);

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
						    &failover,
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
