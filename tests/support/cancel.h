/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TESTS_CANCEL_H
#define DLOCK_TESTS_CANCEL_H

#include <dlock/dlock.h>

/* Begin a wait for `l`, of client `c`, in another thread; cancel it as soon as
 * it has begun; answer how many milliseconds it took to come back.  It must
 * come back with ECANCELED. */
int64_t cancel_wait_ms(dlock_client *c, dlock_lock *l);

/* The same once it waits for others, and `freeze` was called. */
int64_t cancel_parked_ms(dlock_client *c, dlock_lock *l,
			 void (*freeze)(void *arg), void *arg);

#endif
