/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weather of a seed: which faults there are, and how wild.  Drawn before
 * all else, so that a seed has only delays and another only resets: with the
 * same rates in each seed, rare meetings of faults never happen.
 *
 * A rate is 1 in so many occasions; 0: never.
 */
#ifndef DLOCK_SIM_WEATHER_H
#define DLOCK_SIM_WEATHER_H

#include "sim/base/chance.h"

struct sim_weather {
	/* Of written bytes. */
	uint64_t delay_us; /* the longest, one way; at least 1 */
	uint64_t split;    /* the rest of the bytes comes later */
	uint64_t stall;    /* no more bytes arrive for a while */
	uint64_t silence;  /* no more bytes arrive, this way */
	uint64_t reset;
	uint64_t buffer;   /* bytes under way, one way */

	/* Of connections. */
	uint64_t refused, unanswered;

	/* Of a server, each tenth of a second. */
	uint64_t stop;     /* the process, or the whole machine */
	uint64_t restart, blank_restart, flush, evict, forget;
	uint64_t full;     /* writes are refused, for a while */
	uint64_t step;     /* of the server's clock, by up to a lease */
	uint64_t fail_over; /* to a replica that may be behind */

	int has_name;      /* clients look the servers up by a name */
	int has_stranger;  /* ... and there is another server, whose address the
			    * name may have beside theirs */
	uint64_t rename;   /* the name leads elsewhere, or nowhere */
	uint64_t hang;     /* of look-ups: the answer comes after seconds */

	/* Of memcached. */
	uint64_t late;     /* the timer, each time it is set */
	int proxied;       /* connections outlive a restart of the server */
	int sleeps;        /* a stopped machine sleeps: the clocks stop */
	int dialect;       /* 0: auto; 1: text; 2: meta */

	/* Of a client, each tenth of a second. */
	uint64_t pause, suspend;

	/* Of a client, each time it runs. */
	uint64_t kill;
	uint64_t memory;   /* an allocation fails */
	uint64_t sleep;    /* between a write and the rest of the turn */
	uint64_t drift_ppm; /* of the client's clock, either way */

	/* Of a caller. */
	uint64_t breaks;    /* breaks a lock instead of acquiring */
	uint64_t downgrade; /* ends by sharing the lock */
	uint64_t times;     /* how many kinds of times, from the shortest on, a
			     * caller holds or rests; at most 4 */

	uint64_t lease_ms;
	int wildest;       /* faults as wild as can be */
};

void sim_weather_draw(struct sim_weather *w, struct sim_chance *c);

/* ... of memcached, behind sim_weather_draw(). */
void sim_weather_draw_memcached(struct sim_weather *w, struct sim_chance *c);

#endif
