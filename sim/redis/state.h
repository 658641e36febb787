/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model Redis' own structures, for the files of this folder.
 */
#ifndef DLOCK_SIM_REDIS_STATE_H
#define DLOCK_SIM_REDIS_STATE_H

#include "sim/redis/db.h"
#include "sim/redis/server.h"

enum { RM_DBS = 16, RM_RUN_ID = 40 };

struct rm_call;

/* The script's writes so far, and the server's state at the start of the
 * script. */
struct rm_run {
	int has_written;
	int was_full;
};

/* rm_command_call_by_script() */
typedef void rm_script_call(const struct rm_call *call, struct rm_run *run);

struct sim_redis_conn {
	struct sim_redis *server;
	struct sim_redis_conn *next;
	size_t db;
	int is_closing;
	struct rm_map channels; /* values are NULL */
	struct sim_bytes in, out;
};

struct sim_redis {
	struct rm_db dbs[RM_DBS];
	char run_id[RM_RUN_ID + 1];
	uint64_t seed, starts;
	int is_replica, is_full, is_loading;
	struct sim_redis_conn *conns;
	struct rm_map scripts; /* known scripts, by SHA1; values are NULL */
	rm_script_call *script_call;
	struct sim_bytes reply; /* to a script */
};

#endif
