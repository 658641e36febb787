/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensembles of three ZooKeeper servers on one host.  Each node is a private
 * server, to be killed, paused and restarted by lab/servers/server.h.
 *
 * In a linked ensemble, followers reach the leader through a proxy for each
 * pair of nodes (lab/proxy/proxy.h).  Votes take the direct way: a node cut off
 * from a leader may still elect it.
 */
#ifndef DLOCK_LAB_ENSEMBLE_H
#define DLOCK_LAB_ENSEMBLE_H

#include "lab/proxy/proxy.h"
#include "lab/servers/zookeeper.h"

#define LAB_NODES 3

struct lab_ensemble {
	struct lab_server *node[LAB_NODES];
	/* The proxy from the first node to the second, if the second leads; or
	 * NULL. */
	struct lab_proxy *link[LAB_NODES][LAB_NODES];
	/* The rest is for lab/servers/ensemble.c. */
	char *config[LAB_NODES];
	int reserved[LAB_NODES * 2]; /* the ports between the nodes */
};

/*
 * Start an ensemble and wait for a leader.  `options` apply to each node; the
 * id is ignored.  Free with lab_ensemble_free().
 */
struct lab_ensemble *lab_ensemble_start(const struct lab_zk_options *options);

/* The same with links. */
struct lab_ensemble *
lab_ensemble_start_linked(const struct lab_zk_options *options);

/* Wait until every node serves again. */
int lab_ensemble_wait(struct lab_ensemble *e, int64_t timeout_ms);

/* Return the place of the leader, or of the first follower; or -1. */
int lab_ensemble_leader(struct lab_ensemble *e);
int lab_ensemble_follower(struct lab_ensemble *e);

/* NULL is a no-op. */
void lab_ensemble_free(struct lab_ensemble *e);

#endif
