/* SPDX-License-Identifier: Apache-2.0 */
#include "locks.h"

#include "support/case.h"
#include "support/check.h"

static void free_lock(void *l)
{
	dlock_lock_free(l);
}

static dlock_lock *freed_at_end(dlock_lock *l)
{
	at_end(free_lock, l);
	return l;
}

dlock_lock *mutex(dlock_client *c, const char *name)
{
	dlock_lock *l;

	CHECK_OK(dlock_mutex_new(&l, c, name));
	return freed_at_end(l);
}

dlock_lock *rwlock(dlock_client *c, const char *name)
{
	dlock_lock *l;

	CHECK_OK(dlock_rwlock_new(&l, c, name));
	return freed_at_end(l);
}

dlock_lock *semaphore(dlock_client *c, const char *name, uint32_t permits)
{
	dlock_lock *l;

	CHECK_OK(dlock_semaphore_new(&l, c, name, permits));
	return freed_at_end(l);
}

dlock_lock *multi(dlock_lock *const *members, size_t n)
{
	dlock_lock *l;

	CHECK_OK(dlock_multi_new(&l, members, n));
	return freed_at_end(l);
}

dlock_lock *upgradeable(dlock_lock *rw)
{
	dlock_lock *l;

	CHECK_OK(dlock_upgradeable_new(&l, rw));
	return freed_at_end(l);
}
