/* SPDX-License-Identifier: Apache-2.0 */
/* A client waits for leases. */
#ifndef DLOCK_SIM_PROCESS_WAITING_H
#define DLOCK_SIM_PROCESS_WAITING_H

#include "sim/process/caller.h"

/* The first two clients are open, and there is no fault and no participant.
 * The first client holds the name, the second waits for two leases and has the
 * lock at once when the first releases.  The seed draws how the second waits,
 * and for which side. */
void sim_waiting_for_leases(struct sim_play *p, size_t name);

#endif
