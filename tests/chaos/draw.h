/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers drawn at random, the same ones for the same seed (splitmix64). */
#ifndef DLOCK_CHAOS_DRAW_H
#define DLOCK_CHAOS_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct chaos_draw {
	uint64_t state;
};

uint64_t chaos_draw(struct chaos_draw *d);

/* One of min to max, both included. */
int64_t chaos_between(struct chaos_draw *d, int64_t min, int64_t max);

bool chaos_chance(struct chaos_draw *d, int percent);

#endif
