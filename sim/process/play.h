/* SPDX-License-Identifier: Apache-2.0 */
/* A play: a simulated process, from the first client to the last thread. */
#ifndef DLOCK_SIM_PROCESS_PLAY_H
#define DLOCK_SIM_PROCESS_PLAY_H

#include <stdint.h>

struct sim_outcome {
	uint64_t hash, grants, draws;
	int64_t ms; /* of virtual time */
};

struct sim_scene;

/* Play `seed`; then this process is to end.  A flaw ends the process with 1.
 * `scarce`: memory is. */
void sim_play_seed(uint64_t seed, int tells, const struct sim_scene *scene,
		   int scarce, struct sim_outcome *out);

#endif
