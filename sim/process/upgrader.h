/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that read, and then write. */
#ifndef DLOCK_SIM_PROCESS_UPGRADER_H
#define DLOCK_SIM_PROCESS_UPGRADER_H

#include "sim/process/caller.h"

/* Take the upgradeable read side of a read-write lock, and perhaps the write
 * side as well. */
void sim_caller_upgrade(struct sim_caller *me);

#endif
