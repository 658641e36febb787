/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fewer faults that still show a bug.
 */
#ifndef DLOCK_SIM_MINIMISE_H
#define DLOCK_SIM_MINIMISE_H

#include "sim/base/chance.h"
#include "sim/store.h"

/*
 * Shorten a run whose judge found a fault: set draws to 0, "no fault", and cut
 * the log's end off, as long as a judge still finds a fault; in at most `runs`
 * runs.  `c` then has the log of the smallest run.  Returns how many draws in
 * the log are not 0.
 */
size_t sim_minimise(const struct sim_store *store, struct sim_chance *c,
		    int64_t seconds, int runs);

#endif
