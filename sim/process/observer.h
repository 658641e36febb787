/* SPDX-License-Identifier: Apache-2.0 */
/* A caller does what operators and short-lived clients do: looks at a lock and
 * breaks it, opens a client and closes it; waiting, or without. */
#ifndef DLOCK_SIM_PROCESS_OBSERVER_H
#define DLOCK_SIM_PROCESS_OBSERVER_H

#include "sim/process/caller.h"

void sim_caller_observe(struct sim_caller *me);

/* Open a client, and close the client at once, or after an acquire.  In a hasty
 * play, the close comes in the midst of the open, or another thread processes
 * beside the close. */
void sim_caller_visit(struct sim_caller *me);

#endif
