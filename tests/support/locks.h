/* SPDX-License-Identifier: Apache-2.0 */
/* Makes locks, which must succeed.  A CASE() frees the locks at the end, and a
 * Test() must free the locks itself. */
#ifndef DLOCK_TESTS_LOCKS_H
#define DLOCK_TESTS_LOCKS_H

#include <dlock/dlock.h>

dlock_lock *mutex(dlock_client *c, const char *name);
dlock_lock *rwlock(dlock_client *c, const char *name);
dlock_lock *semaphore(dlock_client *c, const char *name, uint32_t permits);

dlock_lock *upgradeable(dlock_lock *rwlock);
dlock_lock *multi(dlock_lock *const *members, size_t n);

#endif
