/* SPDX-License-Identifier: Apache-2.0 */
/* zk3: an ensemble.  The nodes, the links between nodes, and the proxies before
 * the nodes fail singly and at the same time. */
#include <stdio.h>
#include <stdlib.h>

#include "chaos/chaos.h"
#include "lab/servers/ensemble.h"
#include "lab/base/fail.h"

#define WAIT_MS 20000
#define TRIES 3

/* A cut-off follower serves for longer than a session lives.  A client notices
 * unless the session has only holds: with --threads 1, a client that mistakes
 * reads for proofs of the session is soon found. */
static const struct lab_zk_options options = { .config = "syncLimit=40\n" };

struct zk3 {
	struct lab_ensemble *e;
	int node;  /* victim of the servers' fault */
	int loner; /* ... and of the links' */
};

static int start_zk3(struct chaos *c, const char *query)
{
	struct zk3 *z = calloc(1, sizeof(*z));
	char more[200];

	c->store = z;
	if (!z)
		return lab_fail("out of memory");
	z->e = lab_ensemble_start_linked(&options);
	if (!z->e)
		return -1;
	snprintf(more, sizeof(more), "%s%ctick=100ms", query,
		 *query ? '&' : '?');
	return chaos_start_proxies(c, "zk", z->e->node, LAB_NODES, more);
}

static void stop_zk3(struct chaos *c)
{
	struct zk3 *z = c->store;

	if (z)
		lab_ensemble_free(z->e);
	free(z);
}

/* By the time it is asked, the leader may be another node. */
static int64_t count_left(struct chaos *c)
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

static int pause_node(struct chaos *c)
{
	struct zk3 *z = c->store;

	z->node = (int)chaos_between(c->random, 0, LAB_NODES - 1);
	return lab_server_pause(z->e->node[z->node]);
}

static int resume_node(struct chaos *c)
{
	struct zk3 *z = c->store;

	return lab_server_resume(z->e->node[z->node]);
}

static int kill_node(struct chaos *c)
{
	struct zk3 *z = c->store;

	z->node = (int)chaos_between(c->random, 0, LAB_NODES - 1);
	return lab_server_kill(z->e->node[z->node]);
}

/* The machine may be too busy to start a server in time. */
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

/* If there is no leader just now, any node. */
static int leader(struct chaos *c)
{
	struct zk3 *z = c->store;
	int n = lab_ensemble_leader(z->e);

	z->node = n < 0 ? (int)chaos_between(c->random, 0, LAB_NODES - 1) : n;
	return z->node;
}

static int pause_leader(struct chaos *c)
{
	const struct zk3 *z = c->store;

	return lab_server_pause(z->e->node[leader(c)]);
}

static int kill_leader(struct chaos *c)
{
	struct zk3 *z = c->store;

	return lab_server_kill(z->e->node[leader(c)]);
}

static int kill_two(struct chaos *c)
{
	struct zk3 *z = c->store;

	if (kill_node(c) < 0)
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

static int draw_loner(struct chaos *c)
{
	struct zk3 *z = c->store;

	z->loner = (int)chaos_between(c->random, 0, LAB_NODES - 1);
	return z->loner;
}

/* Drop all messages to and from a node, leader or follower. */
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

static int cut_off(struct chaos *c)
{
	draw_loner(c);
	hole(c, true, true);
	return 0;
}

static int deafen(struct chaos *c)
{
	draw_loner(c);
	hole(c, true, false);
	return 0;
}

static int mute(struct chaos *c)
{
	draw_loner(c);
	hole(c, false, true);
	return 0;
}

static int join_again(struct chaos *c)
{
	hole(c, false, false);
	return 0;
}

static int reset_links(struct chaos *c)
{
	const struct zk3 *z = c->store;
	int n = draw_loner(c);

	for (int i = 0; i < LAB_NODES; i++) {
		if (i == n)
			continue;
		lab_proxy_reset(z->e->link[n][i]);
		lab_proxy_reset(z->e->link[i][n]);
	}
	return 0;
}

static const struct chaos_fault own_faults[] = {
	CHAOS_FAULT("node-pause-short", CHAOS_SERVER, 2, 10, 80,
		    .begin = pause_node, .end = resume_node),
	CHAOS_FAULT("node-pause-long", CHAOS_SERVER, 2, 120, 250,
		    .begin = pause_node, .end = resume_node),
	CHAOS_FAULT("node-kill", CHAOS_SERVER, 2, 0, 150, .begin = kill_node,
		    .end = restart_node),
	CHAOS_FAULT("nodes-kill", CHAOS_SERVER, 1, 0, 100, .begin = kill_two,
		    .end = restart_two),
	CHAOS_FAULT("leader-pause", CHAOS_SERVER, 2, 10, 250,
		    .begin = pause_leader, .end = resume_node),
	CHAOS_FAULT("leader-kill", CHAOS_SERVER, 2, 0, 150,
		    .begin = kill_leader, .end = restart_node),
	CHAOS_FAULT("link-cut", CHAOS_LINKS, 4, 20, 400, .begin = cut_off,
		    .end = join_again),
	CHAOS_FAULT("link-deaf", CHAOS_LINKS, 2, 20, 300, .begin = deafen,
		    .end = join_again),
	CHAOS_FAULT("link-mute", CHAOS_LINKS, 2, 20, 300, .begin = mute,
		    .end = join_again),
	CHAOS_FAULT("link-reset", CHAOS_LINKS, 1, 0, 1, .begin = reset_links),
	CHAOS_NO_FAULT
};

const struct chaos_store chaos_zk3 = {
	.name = "zk3",
	.leases = true,
	.match = "-x",
	.try_asks = 5, /* see docs/zookeeper.md, "Tries" */
	.ttl_ms = 1000,
	.ask_ms = 250,
	.start = start_zk3,
	.stop = stop_zk3,
	.left = count_left,
	.faults = { chaos_process_faults, chaos_net_faults, own_faults },
};
