/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a lock, until a signal ends the wait.
 */
#ifndef DLOCK_TOOLS_WAIT_H
#define DLOCK_TOOLS_WAIT_H

#include "signals.h"

#include <dlock/dlock.h>

/*
 * Acquire, exclusive or shared; or so many permits, if `take` is not 0.  A
 * signal of s->ending ends the wait: *sig is set, and a lock that was granted
 * at the last moment is released.  Else *sig is 0, and the result is the
 * acquire's, or a positive errno value if it could not begin.  The lock belongs
 * to the calling thread.
 */
int wait_acquire(dlock_lock *lock, int shared, uint32_t take,
		 int64_t timeout_ms, const struct signals *s, dlock_hold **out,
		 int *sig);

#endif
