/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model Redis' own structures, for the files of this folder.
 */
#ifndef DLOCK_SIM_REDIS_STATE_H
#define DLOCK_SIM_REDIS_STATE_H

#include "sim/redis/db.h"
#include "sim/redis/server.h"

enum { RM_DBS = 16, RM_RUN_ID = 40, RM_COMMANDS_MAX = 80 };

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
	uint64_t id;
	size_t db;
	int is_authenticated;
	int is_closing;
	struct sim_bytes name;
	struct rm_map channels; /* values are NULL */
	struct sim_bytes in, out;
};

struct sim_redis {
	struct rm_db dbs[RM_DBS];
	char run_id[RM_RUN_ID + 1];
	uint64_t seed, starts, last_id;
	struct sim_bytes password; /* empty: none needed */
	const char *denied;       /* or NULL */
	int is_replica, is_full, is_loading;
	struct sim_bytes policy; /* maxmemory-policy */
	struct sim_redis_conn *conns;
	struct rm_map scripts; /* known scripts, by SHA1; values are NULL */
	rm_script_call *script_call;
	struct sim_bytes reply; /* to a script */
	uint64_t calls[RM_COMMANDS_MAX]; /* by place in the table */
};

#endif
