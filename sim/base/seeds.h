/* SPDX-License-Identifier: Apache-2.0 */
/* The seeds of a run. */
#ifndef DLOCK_SIM_BASE_SEEDS_H
#define DLOCK_SIM_BASE_SEEDS_H

#include <stdint.h>

struct sim_seeds {
	uint64_t first, n;
	const char *base; /* the text of the seeds, or NULL */
};

/* Return seeds that follow from the text in DLOCK_SIM_BASE, or seed 1. */
struct sim_seeds sim_seeds_default(void);

/* Read "SEED" or "FIRST-LAST".  0; or -1, and no change. */
int sim_seeds_read(struct sim_seeds *seeds, const char *text);

#endif
