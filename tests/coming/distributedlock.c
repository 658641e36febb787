/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for users of DistributedLock for .NET. */
#include "coming/rows.h"

#include <string.h>

#include "support/wait.h"

ROW(distributedlock_try)
{
	coming_busy(t, 0);
}

ROW(distributedlock_async)
{
	coming_async(t, LONG_MS);
}

ROW(distributedlock_lost_token)
{
	dlock_hold *hold = coming_take(t->lock);

	OK(dlock_break(t->theirs, LONG_MS));
	EVENTUALLY(is_readable(dlock_hold_fd(hold), 0));
	IS(dlock_release(hold), DLOCK_ELOST);
}

ROW(distributedlock_safe_name)
{
	char name[DLOCK_NAME_SIZE];
	dlock_lock *lock;

	IS(dlock_mutex_new(&lock, t->client, "two\nlines"), DLOCK_EINVAL);
	cr_assert_eq(dlock_name_make(name, "two\nlines", 9),
		     DLOCK_NAME_ESCAPED);
	OK(dlock_mutex_new(&lock, t->client, name));
	dlock_lock_free(lock);
}

ROW(distributedlock_readers)
{
	dlock_lock *lock;
	dlock_hold *r, *w;

	OK(dlock_rwlock_new(&lock, t->client, t->name));
	OK(dlock_acquire_shared(lock, LONG_MS, &r));
	IS(dlock_acquire(lock, 0, &w), DLOCK_EDEADLK);
	OK(dlock_release(r));
	dlock_lock_free(lock);
}

ROW(distributedlock_upgrade)
{
	dlock_lock *lock, *upgradeable;
	dlock_hold *reads, *writes;

	OK(dlock_rwlock_new(&lock, t->client, t->name));
	OK(dlock_upgradeable_new(&upgradeable, lock));
	dlock_lock_free(lock);
	OK(dlock_acquire(upgradeable, LONG_MS, &reads));
	OK(dlock_upgrade(upgradeable, reads, LONG_MS, &writes));
	OK(dlock_release(writes));
	OK(dlock_check(reads));
	OK(dlock_release(reads));
	dlock_lock_free(upgradeable);
}

ROW(distributedlock_semaphore)
{
	dlock_lock *lock;
	dlock_hold *hold;

	OK(dlock_semaphore_new(&lock, t->client, t->name, 5));
	OK(dlock_acquire(lock, LONG_MS, &hold));
	OK(dlock_release(hold));
	dlock_lock_free(lock);
}

ROW(distributedlock_all)
{
	coming_both(t, t->other);
}

const struct coming_row distributedlock_rows[] = {
	{ "distributedlock_try", distributedlock_try },
	{ "distributedlock_async", distributedlock_async },
	{ "distributedlock_lost_token", distributedlock_lost_token },
	{ "distributedlock_safe_name", distributedlock_safe_name },
	{ "distributedlock_readers", distributedlock_readers },
	{ "distributedlock_upgrade", distributedlock_upgrade },
	{ "distributedlock_semaphore", distributedlock_semaphore },
	{ "distributedlock_all", distributedlock_all },
	{ NULL, NULL },
};
