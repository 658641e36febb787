/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a lock, and leaving the line when a signal says so.
 */
#ifndef DLOCK_TOOLS_WAIT_H
#define DLOCK_TOOLS_WAIT_H

#include "signals.h"

#include <dlock/dlock.h>

/*
 * Acquire, exclusive or shared.  A signal of s->ending ends the wait: *sig is
 * set, and whatever was got at the last moment is given back.  Else *sig is 0
 * and the answer is the acquire's, or an errno value, which is positive, where
 * it could not begin.  The lock belongs to the calling thread.
 */
int wait_acquire(dlock_lock *lock, int shared, int64_t timeout_ms,
		 const struct signals *s, dlock_hold **out, int *sig);

#endif
