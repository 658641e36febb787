/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE loop: ask, park, ask again, until granted, cancelled or out of time.  A
 * thread goes through it once, and sleeps in it.  An asynchronous call leaves
 * it where it would sleep, and enters it again.
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
	int begun;

	/* What it has learnt so far, from all of its claims. */
	int busy;       /* the store has answered that others have the lock */
	int64_t had_ms; /* the last attempt had so long, and was not answered;
			 * 0: it was, or was refused */
	struct dlki_backoff backoff;
	struct dlki_claim *claim; /* the one that asks now */
};

/* Take `lock`, which is not a multi-lock; `*out` is set on success only. */
int dlki_acquire(dlock_lock *lock, enum dlk_mode mode, struct dlki_wait *wait,
		 dlock_hold **out, struct dlk_error *err);

/* With mu held.  0, or an error.  If there is a claim then, it is to be run,
 * and is a call of the client until it ends.  If not, the lock is granted. */
int dlki_acquire_begin(struct dlki_acquire *a, dlock_hold **out,
		       struct dlk_error *err);

/* Go on with it; `slept` is the result of its last sleep, or 0.  DLKI_GRANTED,
 * and the call has ended; DLKI_SLEEPS; or an error. */
int dlki_acquire_run(struct dlki_acquire *a, int slept, dlock_hold **out,
		     struct dlk_error *err);

/* With mu held: it does not go on, and asks the store for nothing any more. */
void dlki_acquire_abandon(struct dlki_acquire *a);

#endif
