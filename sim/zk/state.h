/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the model share. */
#ifndef DLOCK_SIM_ZK_STATE_H
#define DLOCK_SIM_ZK_STATE_H

#include "sim/zk/server.h"
#include "sim/zk/sessions.h"
#include "sim/zk/tree.h"

struct zk_watch {
	struct zk_watch *next;
	int is_child; /* of the node's children, not its data */
	char path[ZK_PATH];
};

struct sim_zk_conn {
	struct sim_zk *server;
	struct sim_zk_conn *next;
	struct sim_bytes in, out;
	int64_t session; /* 0: none yet */
	struct zk_watch *watches;
	int is_closing;
};

struct sim_zk {
	struct sim_zk_options options;
	struct sim_zk_time now;
	struct zk_tree tree;
	struct zk_sessions sessions;
	int64_t containers_us; /* when to look for empty ones */
	struct sim_zk_conn *conns;
};

#endif
