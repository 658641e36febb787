/* SPDX-License-Identifier: Apache-2.0 */
/* The servers that a comparison can start; of ZooKeeper, one and three. */
#include "lab/ensemble.h"
#include "lab/fail.h"
#include "lab/subject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENSEMBLE_MS 60000 /* to have a leader again */

extern const struct lab_subject_kind lab_subject_redis;
extern const struct lab_subject_kind lab_subject_memcached;

/* Data on the disk, but not synced: what a killed server forgets is then the
 * machine's to lose, and a lab's disk does not decide the figures. */
static const struct lab_zk_options zk_options = { .tick_ms = 100 };

/* Servers that all stand still for longer than their syncLimit lose each other,
 * and those of 3.8.0 at times agree on nothing from then on.  What is looked at
 * is how clients take the silence. */
static const struct lab_zk_options zk3_options = {
	.tick_ms = 100,
	.config = "syncLimit=200\n",
};

/* A new session of a second, in the server's protocol, and then its pings. */
static const char zk_hello[49] = {
	0, 0, 0, 45, [18] = 3, (char)232, [31] = 16
};
static const char zk_ping[12] = { 0, 0, 0, 8, -1, -1, -1, -2, 0, 0, 0, 11 };

static void zk_describe(struct lab_subject *s, const char *what)
{
	char reply[2048];
	const char *v = NULL;

	if (lab_zk_word(s->nodes[0], "srvr", reply, sizeof(reply)) == 0)
		v = strstr(reply, "version: ");
	if (v)
		snprintf(s->server_text, sizeof(s->server_text),
			 "zookeeper %.*s", (int)strcspn(v + 9, "-, \r\n"),
			 v + 9);
	snprintf(s->settings, sizeof(s->settings),
		 "%s, tickTime 100, forceSync no", what);
}

static int zk_start(struct lab_subject *s)
{
	s->nodes[0] = lab_zk_start(&zk_options);
	if (!s->nodes[0])
		return -1;
	s->n_nodes = 1;
	zk_describe(s, "standalone");
	return 0;
}

static int zk_settled(struct lab_subject *s)
{
	for (size_t i = 0; i < s->n_nodes; i++)
		if (!*lab_zk_mode(s->nodes[i]))
			return lab_fail("zookeeper does not serve");
	return 0;
}

static int64_t zk_left(struct lab_subject *s, int64_t *bytes)
{
	static const char name[] = "zk_approximate_data_size";
	char reply[8192];
	const char *at = NULL;

	if (lab_zk_word(s->nodes[0], "mntr", reply, sizeof(reply)) == 0)
		at = strstr(reply, name);
	*bytes = at ? strtoll(at + sizeof(name) - 1, NULL, 10) : -1;
	return lab_zk_number(s->nodes[0], "srvr", "Node count");
}

static int zk3_start(struct lab_subject *s)
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

static void zk3_stop(struct lab_subject *s)
{
	lab_ensemble_free(s->whole);
}

static int zk3_wait(struct lab_subject *s)
{
	return lab_ensemble_wait(s->whole, ENSEMBLE_MS);
}

static const struct lab_subject_kind zk = {
	.name = "zk",
	.scheme = "zk",
	.start = zk_start,
	.stays = 2,
	.what_stays = "containers, which the server removes by and by",
	.hello = { zk_hello, sizeof(zk_hello), 41 },
	.ping = { zk_ping, sizeof(zk_ping), 20 },
	.ask_ms = 200, /* it writes to a disk before it answers */
	.settled = zk_settled,
	.left = zk_left,
};

static const struct lab_subject_kind zk3 = {
	.name = "zk-3",
	.scheme = "zk",
	.start = zk3_start,
	.stays = 2,
	.what_stays = "containers, which the server removes by and by",
	.hello = { zk_hello, sizeof(zk_hello), 41 },
	.ping = { zk_ping, sizeof(zk_ping), 20 },
	/* It promises 7/12 of its lease, half of which must be left when it
	 * grants: 83 ms of a second, of which the network takes its part. */
	.lease_times = 2,
	.ask_ms = 200,
	.stop = zk3_stop,
	.wait = zk3_wait,
	.settled = zk_settled,
	.left = zk_left,
};

const struct lab_subject_kind *const lab_subject_kinds[] = {
	&lab_subject_redis, &lab_subject_memcached, &zk, &zk3, NULL,
};
