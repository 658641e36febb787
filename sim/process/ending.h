/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a play: the store is empty. */
#ifndef DLOCK_SIM_PROCESS_ENDING_H
#define DLOCK_SIM_PROCESS_ENDING_H

#include "sim/process/caller.h"

/* The callers have ended.  When the clients count no claim in the store, the
 * store has no claim. */
void sim_ending_subside(struct sim_play *p);

/* All holds are released, and the sessions stand: no key is left. */
void sim_ending_look_at_server(struct sim_play *p);

/* The clients are closed: another client sees no participant. */
void sim_ending_look_at_store(struct sim_play *p);

#endif
