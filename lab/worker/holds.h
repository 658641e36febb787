/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The holds of a worker, each with the operation of the history.
 *
 * The library may deliver LOST before the acquire has returned the hold; the
 * loss is then noted for the right operation.  With release=async the library
 * may also deliver LOST after the release; that loss is noted for no operation.
 * Any thread may call all of these functions.
 */
#ifndef DLOCK_LAB_HOLDS_H
#define DLOCK_LAB_HOLDS_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lab/history/history.h"

#define LAB_HOLDS 256 /* at a time */

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
	bool multi;  /* acquires are for members of a multi-lock */
	pthread_mutex_t mutex; /* for all below */
	int acquiring;         /* acquires under way */
	struct lab_hold slots[LAB_HOLDS];
};

void lab_holds_init(struct lab_holds *h, struct lab_history *history);

/* Note an acquire, right before the call.  Returns the operation's number. */
uint64_t lab_holds_acquire(struct lab_holds *h, const char *name,
			   enum lab_mode mode, uint32_t limit,
			   int64_t timeout_ms);

/* The same for several permits of a semaphore, and for the other side of a lock
 * that the operation `beside` has: see lab/history/history.h. */
uint64_t lab_holds_permits(struct lab_holds *h, const char *name,
			   unsigned limit, unsigned permits,
			   int64_t timeout_ms);
uint64_t lab_holds_beside(struct lab_holds *h, const char *name,
			  enum lab_mode mode, uint64_t beside,
			  int64_t timeout_ms);

/* Note the return of the acquire; `rc` is the library's code.  `hold` is NULL
 * if the acquire failed, and for a foreign lock, which has no lease to
 * watch. */
void lab_holds_acquired(struct lab_holds *h, uint64_t op, int rc,
			dlock_hold *hold, uint64_t token);

/* Note the last release, right before and after the call. */
void lab_holds_release(struct lab_holds *h, uint64_t op);
void lab_holds_released(struct lab_holds *h, uint64_t op, int rc);

/* Note the current leases of all holds: a verdict on a killed worker is as
 * precise as the last note. */
void lab_holds_watch(struct lab_holds *h);

/* Note LOST, first thing in the callback. */
void lab_holds_lost(struct lab_holds *h, dlock_hold *hold);

#endif
