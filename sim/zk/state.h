/* SPDX-License-Identifier: Apache-2.0 */
/* The model, for all files of the model. */
#ifndef DLOCK_SIM_ZK_STATE_H
#define DLOCK_SIM_ZK_STATE_H

#include "sim/zk/links.h"
#include "sim/zk/server.h"
#include "sim/zk/tree.h"

struct zk_watch {
	struct zk_watch *next;
	int is_child; /* of the node's children, not the data */
	char path[ZK_PATH];
};

/* A request waits for the leader, or for the requests ahead. */
struct zk_pending {
	struct zk_pending *next;
	struct zk_op op;
	int waits; /* for the leader */
};

struct sim_zk_conn {
	struct zk_server *server;
	struct sim_zk_conn *next;
	uint64_t id;
	struct sim_bytes in, out;
	struct zk_pending *pending;
	int is_asking;   /* for a session */
	int has_written; /* a write was answered since the last input */
	int64_t session; /* 0: not yet */
	struct zk_watch *watches;
	int is_closing;
};

struct zk_server {
	struct sim_zk *ensemble;
	struct zk_tree tree;
	struct zk_link up, down; /* of a follower */
	int64_t heard[ZK_TOUCHED];
	size_t n_heard;
	int is_out; /* answers nobody */
};

struct zk_election {
	int is_on; /* until_us; the servers but `alone` are out */
	int64_t until_us;
	struct zk_server *alone; /* was the leader; NULL: no such server */
	int64_t alone_until_us;  /* from then on it is out, too */
	struct zk_sessions sessions; /* as `alone` knows them */
};

struct sim_zk {
	struct sim_zk_options options;
	struct sim_zk_time now;
	struct zk_server servers[SIM_ZK_SERVERS];
	int leader; /* of the servers */
	struct zk_election election;
	struct zk_sessions sessions; /* as the leader knows them */
	int64_t containers_us;       /* when to look for empty ones */
	int64_t ping_us;             /* when to ping the followers */
	struct sim_zk_conn *conns;
	uint64_t last_conn;
};

#endif
