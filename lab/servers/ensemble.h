/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensembles of three ZooKeeper servers on one host.  Each node is a server of
 * its own, to be killed, paused and restarted by lab/servers/server.h.
 *
 * In one that has links, followers reach their leader through a proxy for each
 * pair of nodes (lab/proxy/proxy.h).  Votes take the direct way: a node that is
 * cut off from a leader may still elect it.
 */
#ifndef DLOCK_LAB_ENSEMBLE_H
#define DLOCK_LAB_ENSEMBLE_H

#include "lab/proxy/proxy.h"
#include "lab/servers/zookeeper.h"

#define LAB_NODES 3

struct lab_ensemble {
	struct lab_server *node[LAB_NODES];
	/* What `from`, the first, takes to `to`, if that leads; or NULL. */
	struct lab_proxy *link[LAB_NODES][LAB_NODES];
	/* The rest is for lab/servers/ensemble.c. */
	char *config[LAB_NODES];
	int reserved[LAB_NODES * 2]; /* the ports between the nodes */
};

/*
 * Start one and wait until it has a leader.  `options` are each node's; its id
 * is not looked at.  Free with lab_ensemble_free().
 */
struct lab_ensemble *lab_ensemble_start(const struct lab_zk_options *options);

/* The same with links. */
struct lab_ensemble *
lab_ensemble_start_linked(const struct lab_zk_options *options);

/* Nothing passes between two nodes, whichever of them leads; or again. */
void lab_ensemble_cut(struct lab_ensemble *e, int a, int b, bool on);

/* Wait until every node serves again. */
int lab_ensemble_wait(struct lab_ensemble *e, int64_t timeout_ms);

/* The place of the leader, or of the first follower; -1: none. */
int lab_ensemble_leader(struct lab_ensemble *e);
int lab_ensemble_follower(struct lab_ensemble *e);

/* NULL is a no-op. */
void lab_ensemble_free(struct lab_ensemble *e);

#endif
