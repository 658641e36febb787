/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE loop: ask, park, ask again, until granted, cancelled or out of time.  A
 * thread goes through the loop once, and sleeps inside.  An asynchronous call
 * leaves the loop instead of sleeping, and enters again.
 */
#ifndef DLOCK_CORE_ACQUIRE_H
#define DLOCK_CORE_ACQUIRE_H

#include "core/base/backoff.h"
#include "core/wait.h"

struct dlki_acquire {
	dlock_lock *lock;              /* not a multi-lock */
	struct dlki_wait *wait;
	struct dlki_async *call;      /* NULL: a thread waits */
	enum dlk_mode mode;
	bool begun;
	bool asks;      /* the store answers the attempt later */

	/* The results so far, of all claims of this acquire. */
	bool busy;      /* the store has answered: others have the lock */
	bool in_vain;   /* the last attempt had all of its time, and was not
			 * answered */
	dlk_time asked_at, limit; /* the last attempt's time */
	struct dlki_backoff backoff;
	struct dlki_claim *claim; /* the claim asking now */
};

/* Take `lock`, which is not a multi-lock; `*out` is set on success only. */
int dlki_acquire_wait(dlock_lock *lock, enum dlk_mode mode,
		      struct dlki_wait *wait, dlock_hold **out,
		      struct dlk_error *err);

/* With mu held.  0, or an error.  If there is a claim then, run the acquire: a
 * call of the client until the acquire ends.  If not, the lock is granted. */
int dlki_acquire_begin(struct dlki_acquire *a, dlock_hold **out,
		       struct dlk_error *err);

/* Run the acquire; `slept` is the result of the last sleep, or 0.
 * DLKI_GRANTED, and the call has ended; DLKI_SLEEPS, DLKI_ASKS; or an error. */
int dlki_acquire_run(struct dlki_acquire *a, int slept, dlock_hold **out,
		     struct dlk_error *err);

/* With mu held: the time is over, and the store has not answered at the end.
 * EBUSY, if the store has answered before that others have the lock, or if the
 * claim has waited for a claim of this client, which has the lock; else 0. */
int dlki_acquire_was_busy(const struct dlki_acquire *a, struct dlk_error *err);

/* With mu held: the acquire stops, and asks the store no more. */
void dlki_acquire_abandon(struct dlki_acquire *a);

/* ---- An attempt: attempt.c ----------------------------------------------- */

/* A request to the store for a claim, and the meaning of the answer. */

/* The result of an attempt, beside the error codes, which are negative.
 * TOO_LATE: a grant with too little of the lease left. */
enum { DLKI_GRANTED = 0, DLKI_TOO_LATE = 1 };

/* Ask the store once, from `now`, or go on with that.  If a clean-up of this
 * client is in the way, it is released first.  DLKI_GRANTED: the call needs no
 * more of the client.  DLKI_TOO_LATE, EBUSY, the error, or DLKI_ASKS. */
int dlki_attempt(struct dlki_acquire *a, dlk_time now, struct dlk_error *err);

#endif
