/* SPDX-License-Identifier: Apache-2.0 */
#include "locks.h"

#include "check.h"

dlock_lock *mutex(dlock_client *c, const char *name)
{
	dlock_lock *l;

	CHECK_OK(dlock_mutex_new(&l, c, name));
	return l;
}

dlock_lock *rwlock(dlock_client *c, const char *name)
{
	dlock_lock *l;

	CHECK_OK(dlock_rwlock_new(&l, c, name));
	return l;
}

dlock_lock *semaphore(dlock_client *c, const char *name, uint32_t permits)
{
	dlock_lock *l;

	CHECK_OK(dlock_semaphore_new(&l, c, name, permits));
	return l;
}
