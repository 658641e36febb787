/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weather of a seed: which faults there are, and how wild.  Drawn before
 * anything else, so that one seed has only delays and another only resets: with
 * the same rates in each seed, rare meetings of faults never happen.
 *
 * A rate is one in so many occasions; 0: never.
 */
#ifndef DLOCK_SIM_WEATHER_H
#define DLOCK_SIM_WEATHER_H

#include "sim/base/chance.h"

struct sim_weather {
	/* Of bytes that are written. */
	uint64_t delay_us; /* the longest, one way; at least 1 */
	uint64_t split;    /* the rest of them come later */
	uint64_t stall;    /* nothing more arrives for a while */
	uint64_t silence;  /* nothing more arrives, this way */
	uint64_t reset;
	uint64_t buffer;   /* bytes under way, one way */

	/* Of connections. */
	uint64_t refused, unanswered;

	/* Of a server, each tenth of a second. */
	uint64_t stop, restart, blank_restart, flush, evict, forget;

	/* Of a client, each tenth of a second. */
	uint64_t pause, suspend;
	uint64_t drift_ppm; /* of its clock, either way */

	uint64_t lease_ms;
};

void sim_weather_draw(struct sim_weather *w, struct sim_chance *c);

#endif
