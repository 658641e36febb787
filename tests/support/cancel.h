/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TESTS_CANCEL_H
#define DLOCK_TESTS_CANCEL_H

#include <dlock/dlock.h>

/* Begins a wait for `l`, of client `c`, in another thread, and cancels the wait
 * at once.  Returns the milliseconds from the cancel to the end.  The wait must
 * end with ECANCELED. */
int64_t cancel_wait_ms(dlock_client *c, dlock_lock *l);

/* Does so after the wait has parked, and after a call of `freeze`. */
int64_t cancel_parked_ms(dlock_client *c, dlock_lock *l,
			 void (*freeze)(void *arg), void *arg);

#endif
