/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which hold is which operation of the history: a loss may be told before the
 * acquire has returned to its caller, and is noted for the right one then.
 */
#ifndef DLOCK_CHAOS_DESK_H
#define DLOCK_CHAOS_DESK_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdint.h>

#include "lab/history.h"

#define CHAOS_PLACES 64 /* holds at a time */

struct chaos_place {
	dlock_hold *hold; /* NULL: free */
	uint64_t op;      /* 0: lost, and not known yet */
	int leaving;      /* its release is called */
	int lost;
};

struct chaos_desk {
	pthread_mutex_t lock; /* for all below */
	struct lab_history *history;
	struct chaos_place places[CHAOS_PLACES];
};

void chaos_desk_init(struct chaos_desk *d, struct lab_history *history);

/* After the acquire was noted, before its last release, and after that. */
void chaos_desk_enter(struct chaos_desk *d, dlock_hold *hold, uint64_t op);
void chaos_desk_leave(struct chaos_desk *d, uint64_t op);
void chaos_desk_left(struct chaos_desk *d, uint64_t op);

/* Note how long the leases of all that are held have come to last.  The owners
 * may be asleep, and what is known too late is judged wrongly. */
void chaos_desk_sample(struct chaos_desk *d);

/* LOST was delivered. */
void chaos_desk_lost(struct chaos_desk *d, dlock_hold *hold);

#endif
