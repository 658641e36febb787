/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ensembles of three ZooKeeper servers on one host.  Each node is a server of
 * its own, to be killed, paused and restarted by lab/server.h.
 */
#ifndef DLOCK_LAB_ENSEMBLE_H
#define DLOCK_LAB_ENSEMBLE_H

#include "lab/zookeeper.h"

#define LAB_NODES 3

struct lab_ensemble {
	struct lab_server *node[LAB_NODES];
	/* The rest is for lab/ensemble.c. */
	struct lab_zk_options options;
	char *config;
	int reserved[LAB_NODES * 2]; /* the ports between the nodes */
};

/*
 * Start one and wait until it has a leader.  `options` are each node's; its id
 * is not looked at.  Free with lab_ensemble_free().
 */
struct lab_ensemble *lab_ensemble_start(const struct lab_zk_options *options);

/* Wait until every node serves again. */
int lab_ensemble_wait(struct lab_ensemble *e, int64_t timeout_ms);

/* The place of the leader, or of the first follower; -1: none. */
int lab_ensemble_leader(struct lab_ensemble *e);
int lab_ensemble_follower(struct lab_ensemble *e);

/* NULL is a no-op. */
void lab_ensemble_free(struct lab_ensemble *e);

#endif
