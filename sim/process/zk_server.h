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

/* Start a server, or a leader with so many followers, at the ports from
 * SIM_ZK_PORT on; without faults.  `elections` decides on elections alone. */
void sim_zk_server_start(struct sim_chance *chance,
			 struct sim_chance *elections, int followers);

/* Begin these faults; NULL: end all faults. */
void sim_zk_server_weather(const struct sim_zk_weather *weather);

/* Return the path of an ephemeral node; NULL: no such node. */
const char *sim_zk_server_left(void);

/* Stop the server.  All clients are closed. */
void sim_zk_server_stop(void);

#endif
