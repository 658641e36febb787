/* SPDX-License-Identifier: Apache-2.0 */
/* The servers that a comparison can start: Redis, memcached, one ZooKeeper and
 * three. */
#include "lab/base/fail.h"
#include "lab/scenarios/sut.h"
#include "lab/servers/ensemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENSEMBLE_MS 60000 /* to have a leader again */

extern const struct lab_sut_kind lab_sut_redis;
extern const struct lab_sut_kind lab_sut_memcached;

/* Data on the disk, but not synced: then only a crash of the machine loses data
 * of a killed server, and a lab's disk does not decide the figures. */
static const struct lab_zk_options zk_options = { .tick_ms = 100 };

/* Servers that all stand still for longer than syncLimit lose each other, and
 * servers of 3.8.0 at times never agree again.  The trials are about how
 * clients take the silence. */
static const struct lab_zk_options zk3_options = {
	.tick_ms = 100,
	.config = "syncLimit=200\n",
};

/* Ask for a new session of a second, in the server's protocol, then ping. */
static const char zk_hello[49] = {
	0, 0, 0, 45, [18] = 3, (char)232, [31] = 16
};
static const char zk_ping[12] = { 0, 0, 0, 8, -1, -1, -1, -2, 0, 0, 0, 11 };

static void zk_describe(struct lab_sut *s, const char *what)
{
	char reply[2048];

	if (lab_zk_word(s->nodes[0], "srvr", reply, sizeof(reply)) == 0)
		lab_sut_version(s, "zookeeper", reply, "version: ", "-, \r\n");
	snprintf(s->settings, sizeof(s->settings),
		 "%s, tickTime 100, forceSync no", what);
}

static int zk_start(struct lab_sut *s)
{
	if (lab_sut_alone(s, lab_zk_start(&zk_options)) < 0)
		return -1;
	zk_describe(s, "standalone");
	return 0;
}

static int zk_as_started(struct lab_sut *s)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (!*lab_zk_mode(s->nodes[i]))
			return lab_fail("zookeeper does not serve");
	return 0;
}

static int64_t zk_left(struct lab_sut *s, int64_t *bytes)
{
	*bytes = lab_zk_number(s->nodes[0], "mntr", "zk_approximate_data_size");
	return lab_zk_number(s->nodes[0], "srvr", "Node count");
}

static int zk3_start(struct lab_sut *s)
{
	struct lab_ensemble *e = lab_ensemble_start(&zk3_options);

	if (!e)
		return -1;
	s->whole = e;
	s->n_nodes = 3;
	for (size_t i = 0; i < s->n_nodes; i++)
		s->nodes[i] = e->node[i];
	zk_describe(s, "3 servers, syncLimit 200");
	return 0;
}

static void zk3_stop(struct lab_sut *s)
{
	lab_ensemble_free(s->whole);
}

static int zk3_wait(struct lab_sut *s)
{
	return lab_ensemble_wait(s->whole, ENSEMBLE_MS);
}

/* A write goes to a disk before the answer. */
#define OF_ZOOKEEPER                                                           \
	.scheme = "zk", .stays = 3,                                            \
	.what_stays = "the node of the tokens, and containers, which the "     \
		      "server removes by and by",                              \
	.hello = { zk_hello, sizeof(zk_hello), 41 },                           \
	.ping = { zk_ping, sizeof(zk_ping), 20 }, .ask_ms = 200,               \
	.as_started = zk_as_started, .left = zk_left

static const struct lab_sut_kind zk = {
	.name = "zk",
	.start = zk_start,
	OF_ZOOKEEPER,
};

static const struct lab_sut_kind zk3 = {
	.name = "zk-3",
	.start = zk3_start,
	.params = "tick=100ms",
	/* A client leaves a server that is silent for a sixth of the lease, and
	 * a busy machine may take a sixth of a second. */
	.lease_times = 2,
	.stop = zk3_stop,
	.wait = zk3_wait,
	OF_ZOOKEEPER,
};

const struct lab_sut_kind *const lab_sut_kinds[] = {
	&lab_sut_redis, &lab_sut_memcached, &zk, &zk3, NULL,
};
