/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers, the same for the same seed (splitmix64). */
#ifndef DLOCK_CHAOS_RANDOM_H
#define DLOCK_CHAOS_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct chaos_random {
	uint64_t state;
};

/* Draw a number from min to max, both included. */
int64_t chaos_between(struct chaos_random *r, int64_t min, int64_t max);

bool chaos_chance(struct chaos_random *r, int percent);

#endif
