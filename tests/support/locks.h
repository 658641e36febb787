/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that are there, or the test has failed.  A CASE() frees them behind it,
 * a Test() itself. */
#ifndef DLOCK_TESTS_LOCKS_H
#define DLOCK_TESTS_LOCKS_H

#include <dlock/dlock.h>

dlock_lock *mutex(dlock_client *c, const char *name);
dlock_lock *rwlock(dlock_client *c, const char *name);
dlock_lock *semaphore(dlock_client *c, const char *name, uint32_t permits);

dlock_lock *upgradeable(dlock_lock *rwlock);
dlock_lock *multi(dlock_lock *const *members, size_t n);

#endif
