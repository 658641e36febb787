/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model ZooKeeper in a simulated process: a thread of the process.  All
 * connections of the process lead to this server, by pairs of sockets; bytes
 * take virtual time.  The linker leads connect(), send() and close() here.
 */
#ifndef DLOCK_SIM_PROCESS_ZK_SERVER_H
#define DLOCK_SIM_PROCESS_ZK_SERVER_H

#include "sim/base/chance.h"

enum { SIM_ZK_TICK_MS = 200 };

struct sim_zk_weather {
	uint64_t delay_us;   /* of bytes, at most */
	uint64_t reset_rate; /* a connection ends with 1 of so many packets */
	uint64_t pause_rate; /* the server pauses, likewise; 0: never */
	uint64_t pause_us;
	uint64_t restart_rate; /* ... or restarts, with all nodes */
};

/* Start the server, without faults. */
void sim_zk_server_start(struct sim_chance *chance);

/* Begin these faults; NULL: end all faults. */
void sim_zk_server_weather(const struct sim_zk_weather *weather);

/* Return the path of an ephemeral node; NULL: no such node. */
const char *sim_zk_server_left(void);

/* Stop the server.  All clients are closed. */
void sim_zk_server_stop(void);

#endif
