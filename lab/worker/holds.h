/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holds of a worker, and which operation of its history each of them is.
 *
 * The library may deliver LOST before the acquire has returned the hold; it is
 * noted for the right operation then.  With release=async it may also deliver
 * LOST after the release, which is noted for no operation.  All of these may be
 * called from any thread.
 */
#ifndef DLOCK_LAB_HOLDS_H
#define DLOCK_LAB_HOLDS_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lab/history/history.h"

#define LAB_HOLDS 64 /* at a time */

struct lab_hold {
	dlock_hold *hold; /* NULL: this slot is free */
	uint64_t op;      /* 0: lost, and not returned yet */
	uint64_t token;
	int64_t until;    /* as noted last */
	bool releasing, lost;
};

struct lab_holds {
	struct lab_history *history;
	bool checks; /* watching calls dlock_check(), too */
	bool multi;  /* what is acquired are members of a multi-lock */
	pthread_mutex_t mutex; /* for all below */
	int acquiring;         /* acquires under way */
	struct lab_hold slots[LAB_HOLDS];
};

void lab_holds_init(struct lab_holds *h, struct lab_history *history);

/* Right before an acquire.  The number answered stands for it below. */
uint64_t lab_holds_acquire(struct lab_holds *h, const char *name,
			   enum lab_mode mode, uint32_t limit,
			   int64_t timeout_ms);

/* Right after it; `rc` is the library's code.  `hold` is NULL if the acquire
 * failed, and for what has no lease to be watched: a foreign lock. */
void lab_holds_acquired(struct lab_holds *h, uint64_t op, int rc,
			dlock_hold *hold, uint64_t token);

/* Right before and after its last release. */
void lab_holds_release(struct lab_holds *h, uint64_t op);
void lab_holds_released(struct lab_holds *h, uint64_t op, int rc);

/* Note the leases of all holds, as they are now: a verdict on a worker that is
 * killed is as precise as what was noted last. */
void lab_holds_watch(struct lab_holds *h);

/* First thing in the callback that delivers LOST. */
void lab_holds_lost(struct lab_holds *h, dlock_hold *hold);

#endif
