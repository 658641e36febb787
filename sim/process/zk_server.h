/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model ZooKeeper in a simulated process: a single server, or a leader with
 * two followers.
 */
#ifndef DLOCK_SIM_PROCESS_ZK_SERVER_H
#define DLOCK_SIM_PROCESS_ZK_SERVER_H

#include "sim/base/chance.h"
#include "sim/process/zk_weather.h"

enum { SIM_ZK_TICK_MS = 100, SIM_ZK_PORT = 2181, SIM_ZK_PORTS = 3 };

/* Start the weather's servers at the ports from SIM_ZK_PORT on, without faults.
 * `elections` and `reports` decide on the faults of these names alone. */
void sim_zk_server_start(struct sim_chance *chance,
			 struct sim_chance *elections,
			 struct sim_chance *reports,
			 const struct sim_zk_weather *weather);

/* Begin these faults; NULL: end all faults. */
void sim_zk_server_weather(const struct sim_zk_weather *weather);

/* Return the path of an ephemeral node; NULL: no such node. */
const char *sim_zk_server_left(void);

/* Stop the server.  All clients are closed. */
void sim_zk_server_stop(void);

#endif
