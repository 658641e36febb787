/* SPDX-License-Identifier: Apache-2.0 */
/* The promises of a fleet, beside the promises of each server. */
#ifndef DLOCK_SIM_PROCESS_FLEET_H
#define DLOCK_SIM_PROCESS_FLEET_H

#include "sim/process/caller.h"

/* Without faults, with enough memory and open clients: learn which server keeps
 * each name, and see a client with another pool refused. */
void sim_fleet_begin(struct sim_play *p);

/* Of a fleet, start a thread that opens clients, with the pool and with
 * another; and end the thread.  If memory is scarce there is no such thread:
 * hardly any client opens. */
void sim_fleet_send_newcomers(struct sim_play *p);
void sim_fleet_end_newcomers(void);

/* Without faults and holds: when the servers have forgotten their pool, a
 * client with another pool comes first.  The clients are refused until the
 * operator deletes the digests. */
void sim_fleet_change_pool(struct sim_play *p);

#endif
