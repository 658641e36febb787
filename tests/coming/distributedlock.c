/* SPDX-License-Identifier: Apache-2.0 */
/* What users of DistributedLock for .NET look for. */
#include "coming/rows.h"

#include <string.h>

#include "support/wait.h"

ROW(distributedlock_try)
{
	dlock_hold *hold, *theirs = coming_take(t->theirs);

	IS(dlock_acquire(t->lock, 0, &hold), DLOCK_EBUSY);
	OK(dlock_release(theirs));
}

static void done(const struct dlock_result *r, void *arg)
{
	IS(r->code, DLOCK_OK);
	*(dlock_hold **)arg = r->hold;
}

ROW(distributedlock_async)
{
	dlock_hold *hold = NULL;

	OK(dlock_lock_unbind(t->lock));
	OK(dlock_acquire_start(t->lock, LONG_MS, done, &hold, NULL));
	OK(dlock_wait(t->client, LONG_MS));
	OK(dlock_release(hold));
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
	dlock_lock *b, *both;
	dlock_hold *hold;

	OK(dlock_mutex_new(&b, t->other, "coming/second"));
	OK(dlock_multi_new(&both, (dlock_lock *[]){ t->lock, b }, 2));
	OK(dlock_acquire(both, LONG_MS, &hold));
	OK(dlock_release(hold));
	dlock_lock_free(both);
	dlock_lock_free(b);
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
