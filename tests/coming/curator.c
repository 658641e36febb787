/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for users of Curator's recipes. */
#include "coming/rows.h"

#include <string.h>

#include "support/wait.h"

ROW(curator_mutex)
{
	dlock_hold *hold, *again;

	OK(dlock_acquire(t->lock, DLOCK_FOREVER, &hold));
	OK(dlock_acquire(t->lock, DLOCK_FOREVER, &again));
	cr_assert_eq(hold, again);
	OK(dlock_release(again));
	OK(dlock_release(hold));
}

ROW(curator_timed)
{
	coming_busy(t, 50);
}

ROW(curator_owned)
{
	dlock_hold *hold = coming_take(t->lock);

	cr_assert_eq(dlock_lock_held(t->lock), 1);
	cr_assert_eq(dlock_lock_held(t->theirs), 0);
	OK(dlock_release(hold));
}

static void count(const struct dlock_participant *p, void *arg)
{
	cr_assert(p->label[0]);
	++*(int *)arg;
}

ROW(curator_participants)
{
	dlock_hold *hold = coming_take(t->lock);
	int n = 0;

	OK(dlock_inspect(t->theirs, count, &n, LONG_MS));
	cr_assert_eq(n, 1);
	OK(dlock_release(hold));
}

ROW(curator_semaphore_mutex)
{
	dlock_hold *hold, *again;

	OK(dlock_lock_unbind(t->lock));
	OK(dlock_acquire(t->lock, DLOCK_FOREVER, &hold));
	IS(dlock_acquire(t->lock, 0, &again), DLOCK_EBUSY);
	OK(dlock_release(hold));
}

ROW(curator_read_write)
{
	dlock_lock *lock, *twin;
	dlock_hold *w, *r, *other;

	OK(dlock_rwlock_new(&lock, t->client, t->name));
	OK(dlock_rwlock_new(&twin, t->other, t->name));
	OK(dlock_acquire(lock, DLOCK_FOREVER, &w));
	OK(dlock_acquire_shared(lock, DLOCK_FOREVER, &r));
	OK(dlock_release(w));
	OK(dlock_acquire_shared(twin, LONG_MS, &other));
	IS(dlock_acquire(lock, 0, &w), DLOCK_EDEADLK);
	OK(dlock_release(other));
	OK(dlock_release(r));
	dlock_lock_free(twin);
	dlock_lock_free(lock);
}

ROW(curator_semaphore)
{
	dlock_lock *lock;
	dlock_hold *one, *two, *three;

	OK(dlock_semaphore_new(&lock, t->client, t->name, 2));
	OK(dlock_acquire(lock, DLOCK_FOREVER, &one));
	OK(dlock_acquire(lock, DLOCK_FOREVER, &two));
	IS(dlock_acquire(lock, 0, &three), DLOCK_EBUSY);
	OK(dlock_release(two));
	OK(dlock_release(one));
	dlock_lock_free(lock);
}

ROW(curator_semaphore_several)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_hold *three, *one, *none;
	dlock_lock *lock;

	OK(dlock_semaphore_new(&lock, t->client, t->name, 4));
	o.permits = 3;
	OK(dlock_acquire_opts(lock, &o, &three));
	OK(dlock_acquire(lock, 0, &one));
	IS(dlock_acquire(lock, 0, &none), DLOCK_EBUSY);
	OK(dlock_release(one));
	o.timeout_ms = 0;
	IS(dlock_acquire_opts(lock, &o, &none), DLOCK_EBUSY);
	OK(dlock_release(three));
	dlock_lock_free(lock);
}

ROW(curator_semaphore_count)
{
	struct dlock_permits p = { .size = sizeof(p) };
	dlock_hold *one, *two;
	dlock_lock *lock;

	OK(dlock_semaphore_new(&lock, t->client, t->name, 1));
	OK(dlock_acquire(lock, DLOCK_FOREVER, &one));
	OK(dlock_semaphore_resize(lock, 2, LONG_MS));
	OK(dlock_acquire(lock, 0, &two));
	OK(dlock_semaphore_permits(lock, &p, LONG_MS));
	cr_assert_eq(p.limit, 2);
	cr_assert_eq(p.held, 2);
	OK(dlock_release(two));
	OK(dlock_release(one));
	dlock_lock_free(lock);
}

ROW(curator_multi)
{
	coming_both(t, t->other);
}

ROW(curator_revocable)
{
	dlock_hold *hold = coming_take(t->lock);

	OK(dlock_revocable(hold));
	cr_assert(!is_readable(dlock_wanted_fd(hold), 0));
	OK(dlock_revoke(t->theirs, LONG_MS));
	EVENTUALLY(is_readable(dlock_wanted_fd(hold), 0));
	OK(dlock_check(hold));
	OK(dlock_release(hold));
}

ROW(curator_lost)
{
	dlock_hold *hold = coming_take(t->lock);

	OK(dlock_break(t->theirs, LONG_MS));
	EVENTUALLY(is_readable(dlock_hold_fd(hold), 0));
	IS(dlock_check(hold), DLOCK_ELOST);
	IS(dlock_release(hold), DLOCK_ELOST);
}

const struct coming_row curator_rows[] = {
	{ "curator_mutex", curator_mutex },
	{ "curator_timed", curator_timed },
	{ "curator_owned", curator_owned },
	{ "curator_participants", curator_participants },
	{ "curator_semaphore_mutex", curator_semaphore_mutex },
	{ "curator_read_write", curator_read_write },
	{ "curator_semaphore", curator_semaphore },
	{ "curator_semaphore_several", curator_semaphore_several },
	{ "curator_semaphore_count", curator_semaphore_count },
	{ "curator_multi", curator_multi },
	{ "curator_revocable", curator_revocable },
	{ "curator_lost", curator_lost },
	{ NULL, NULL },
};
