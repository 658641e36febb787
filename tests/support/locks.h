/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that are there, or the test has failed. */
#ifndef DLOCK_TESTS_LOCKS_H
#define DLOCK_TESTS_LOCKS_H

#include <dlock/dlock.h>

dlock_lock *mutex(dlock_client *c, const char *name);
dlock_lock *rwlock(dlock_client *c, const char *name);
dlock_lock *semaphore(dlock_client *c, const char *name, uint32_t permits);

#endif
