/* SPDX-License-Identifier: Apache-2.0 */
/* zk3: an ensemble.  Its nodes, the links between them, and the way from the
 * clients to each of them fail one by one and at the same time. */
#include <stdio.h>
#include <stdlib.h>

#include "chaos/chaos.h"
#include "lab/ensemble.h"
#include "lab/fail.h"

#define WAIT_MS 20000
#define TRIES 3

/* A follower that is cut off serves for longer than sessions live.  It goes
 * unnoticed only where a session has nothing but holds: with --threads 1, a
 * client that takes reads for proofs is found out before long. */
static const struct lab_zk_options options = { .config = "syncLimit=40\n" };

struct zk3 {
	struct lab_ensemble *e;
	int node;  /* that the fault of the servers befell */
	int loner; /* ... of the links */
};

static int start_ways(struct chaos *c, const struct lab_ensemble *e)
{
	struct lab_proxy_options way = { 0 };

	for (int i = 0; i < LAB_NODES; i++) {
		way.to = lab_server_address(e->node[i]);
		c->ways[i] = lab_proxy_new(&way);
		if (!c->ways[i])
			return -1;
	}
	c->nways = LAB_NODES;
	c->proxy = c->ways[0];
	return 0;
}

static int start(struct chaos *c, const char *query)
{
	struct zk3 *z = calloc(1, sizeof(*z));
	int port[LAB_NODES];

	c->store = z;
	if (!z)
		return lab_fail("out of memory");
	z->e = lab_ensemble_start_linked(&options);
	if (!z->e || start_ways(c, z->e) < 0)
		return -1;
	for (int i = 0; i < 2; i++) {
		for (int j = 0; j < LAB_NODES; j++)
			port[j] = i ? z->e->node[j]->port :
				      lab_proxy_port(c->ways[j]);
		snprintf(c->uri[i], sizeof(c->uri[i]),
			 "zk://" LAB_LOOPBACK ":%d," LAB_LOOPBACK
			 ":%d," LAB_LOOPBACK ":%d/%s",
			 port[0], port[1], port[2], query);
	}
	return 0;
}

static void stop(struct chaos *c)
{
	struct zk3 *z = c->store;

	for (int i = 0; i < LAB_NODES; i++)
		lab_proxy_free(c->ways[i]);
	if (z)
		lab_ensemble_free(z->e);
	free(z);
}

/* The leader may not be it any more when it is asked. */
static int64_t left(struct chaos *c)
{
	struct zk3 *z = c->store;
	int64_t n = -1;

	for (int i = 0; i < TRIES && n < 0; i++) {
		if (lab_ensemble_wait(z->e, WAIT_MS) < 0)
			return -1;
		z->node = lab_ensemble_leader(z->e);
		if (z->node >= 0)
			n = lab_zk_number(z->e->node[z->node], "mntr",
					  "zk_ephemerals_count");
	}
	return n;
}

/* ---- The servers --------------------------------------------------------- */

static int pause_node(struct chaos *c, struct chaos_draw *d)
{
	struct zk3 *z = c->store;

	z->node = (int)chaos_between(d, 0, LAB_NODES - 1);
	return lab_server_pause(z->e->node[z->node]);
}

static int resume_node(struct chaos *c)
{
	struct zk3 *z = c->store;

	return lab_server_resume(z->e->node[z->node]);
}

static int kill_node(struct chaos *c, struct chaos_draw *d)
{
	struct zk3 *z = c->store;

	z->node = (int)chaos_between(d, 0, LAB_NODES - 1);
	return lab_server_kill(z->e->node[z->node]);
}

/* A machine on which all this goes on may be too busy for one more start. */
static int restart(const struct zk3 *z, int node)
{
	for (int i = 1; i < TRIES; i++)
		if (lab_server_restart(z->e->node[node], true) == 0)
			return 0;
	return lab_server_restart(z->e->node[node], true);
}

static int restart_node(struct chaos *c)
{
	const struct zk3 *z = c->store;

	return restart(z, z->node);
}

/* Where there is no leader just now, it is anybody. */
static int leader(struct zk3 *z, struct chaos_draw *d)
{
	int n = lab_ensemble_leader(z->e);

	z->node = n < 0 ? (int)chaos_between(d, 0, LAB_NODES - 1) : n;
	return z->node;
}

static int pause_leader(struct chaos *c, struct chaos_draw *d)
{
	struct zk3 *z = c->store;

	return lab_server_pause(z->e->node[leader(z, d)]);
}

static int kill_leader(struct chaos *c, struct chaos_draw *d)
{
	struct zk3 *z = c->store;

	return lab_server_kill(z->e->node[leader(z, d)]);
}

static int kill_two(struct chaos *c, struct chaos_draw *d)
{
	struct zk3 *z = c->store;

	if (kill_node(c, d) < 0)
		return -1;
	return lab_server_kill(z->e->node[(z->node + 1) % LAB_NODES]);
}

static int restart_two(struct chaos *c)
{
	const struct zk3 *z = c->store;

	if (restart(z, (z->node + 1) % LAB_NODES) < 0)
		return -1;
	return restart_node(c);
}

/* ---- The links ----------------------------------------------------------- */

static int draw_loner(struct chaos *c, struct chaos_draw *d)
{
	struct zk3 *z = c->store;

	z->loner = (int)chaos_between(d, 0, LAB_NODES - 1);
	return z->loner;
}

/* What one node is sent, and what it sends, whether it leads or follows. */
static void hole(struct chaos *c, bool to_it, bool from_it)
{
	const struct zk3 *z = c->store;

	for (int i = 0; i < LAB_NODES; i++) {
		struct lab_proxy *its = z->e->link[z->loner][i];
		struct lab_proxy *theirs = z->e->link[i][z->loner];

		if (i == z->loner)
			continue;
		lab_proxy_hole(its, LAB_UP, from_it);
		lab_proxy_hole(its, LAB_DOWN, to_it);
		lab_proxy_hole(theirs, LAB_UP, to_it);
		lab_proxy_hole(theirs, LAB_DOWN, from_it);
	}
}

static int cut_off(struct chaos *c, struct chaos_draw *d)
{
	draw_loner(c, d);
	hole(c, true, true);
	return 0;
}

static int deafen(struct chaos *c, struct chaos_draw *d)
{
	draw_loner(c, d);
	hole(c, true, false);
	return 0;
}

static int mute(struct chaos *c, struct chaos_draw *d)
{
	draw_loner(c, d);
	hole(c, false, true);
	return 0;
}

static int join_again(struct chaos *c)
{
	hole(c, false, false);
	return 0;
}

static int reset_links(struct chaos *c, struct chaos_draw *d)
{
	const struct zk3 *z = c->store;
	int n = draw_loner(c, d);

	for (int i = 0; i < LAB_NODES; i++) {
		if (i == n)
			continue;
		lab_proxy_reset(z->e->link[n][i]);
		lab_proxy_reset(z->e->link[i][n]);
	}
	return 0;
}

#define ZK3(what, text, its_lane, cards, least, most, begin_fn, end_fn)        \
	static const struct chaos_fault what = { .name = text,                 \
						 .lane = its_lane,             \
						 .weight = cards,              \
						 .min_pc = least,              \
						 .max_pc = most,               \
						 .begin = begin_fn,            \
						 .end = end_fn }

ZK3(pause_short, "node-pause-short", CHAOS_SERVER, 2, 10, 80, pause_node,
    resume_node);
ZK3(pause_long, "node-pause-long", CHAOS_SERVER, 2, 120, 250, pause_node,
    resume_node);
ZK3(killed, "node-kill", CHAOS_SERVER, 2, 0, 150, kill_node, restart_node);
ZK3(killed_two, "nodes-kill", CHAOS_SERVER, 1, 0, 100, kill_two, restart_two);
ZK3(leader_pause, "leader-pause", CHAOS_SERVER, 2, 10, 250, pause_leader,
    resume_node);
ZK3(leader_kill, "leader-kill", CHAOS_SERVER, 2, 0, 150, kill_leader,
    restart_node);
ZK3(link_cut, "link-cut", CHAOS_LINKS, 4, 20, 400, cut_off, join_again);
ZK3(link_deaf, "link-deaf", CHAOS_LINKS, 2, 20, 300, deafen, join_again);
ZK3(link_mute, "link-mute", CHAOS_LINKS, 2, 20, 300, mute, join_again);
ZK3(link_reset, "link-reset", CHAOS_LINKS, 1, 0, 1, reset_links, NULL);

static const struct chaos_fault *const faults[] = {
	CHAOS_PREY_FAULTS,
	CHAOS_NET_FAULTS,
	&pause_short,
	&pause_long,
	&killed,
	&killed_two,
	&leader_pause,
	&leader_kill,
	&link_cut,
	&link_deaf,
	&link_mute,
	&link_reset,
	NULL,
};

const struct chaos_store chaos_zk3 = {
	.name = "zk3",
	.leases = true,
	.match = "-x",
	.ttl_ms = 1000,
	.ask_ms = 250,
	.start = start,
	.stop = stop,
	.left = left,
	.faults = faults,
};
