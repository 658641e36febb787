/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for users of Redisson. */
#include "coming/rows.h"

#include "support/wait.h"

ROW(redisson_lock)
{
	dlock_hold *hold;

	OK(dlock_acquire(t->lock, DLOCK_FOREVER, &hold));
	OK(dlock_release(hold));
}

ROW(redisson_try)
{
	coming_busy(t, 0);
}

static dlock_acquire_options lease(int64_t timeout_ms, int64_t lease_ms)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	o.timeout_ms = timeout_ms;
	o.lease_ms = lease_ms;
	o.no_renew = 1;
	return o;
}

ROW(redisson_lease)
{
	dlock_acquire_options o = lease(DLOCK_FOREVER, 200);
	dlock_hold *hold, *theirs;

	OK(dlock_acquire_opts(t->lock, &o, &hold));
	OK(dlock_acquire(t->theirs, LONG_MS, &theirs));
	IS(dlock_release(hold), DLOCK_ELOST);
	OK(dlock_release(theirs));
}

ROW(redisson_try_lease)
{
	dlock_acquire_options o = lease(50, 10000);
	dlock_hold *hold, *theirs = coming_take(t->theirs);

	IS(dlock_acquire_opts(t->lock, &o, &hold), DLOCK_EBUSY);
	OK(dlock_release(theirs));
	OK(dlock_acquire_opts(t->lock, &o, &hold));
	OK(dlock_release(hold));
}

static void count(const struct dlock_participant *p, void *arg)
{
	*(int *)arg += !p->waiting;
}

ROW(redisson_is_locked)
{
	dlock_hold *hold = coming_take(t->lock);
	int n = 0;

	OK(dlock_inspect(t->theirs, count, &n, LONG_MS));
	cr_assert_eq(n, 1);
	OK(dlock_release(hold));
	n = 0;
	OK(dlock_inspect(t->theirs, count, &n, LONG_MS));
	cr_assert_eq(n, 0);
}

ROW(redisson_hold_count)
{
	dlock_hold *hold = coming_take(t->lock);

	coming_take(t->lock);
	cr_assert_eq(dlock_lock_held(t->lock), 2);
	OK(dlock_release(hold));
	OK(dlock_release(hold));
	cr_assert_eq(dlock_lock_held(t->lock), 0);
}

ROW(redisson_remaining)
{
	dlock_hold *hold = coming_take(t->lock);

	cr_assert_gt(dlock_remaining_ms(hold), 0);
	cr_assert_leq(dlock_remaining_ms(hold), dlock_ttl_ms(t->client));
	OK(dlock_release(hold));
}

ROW(redisson_force_unlock)
{
	dlock_hold *hold = coming_take(t->lock), *theirs;

	OK(dlock_break(t->theirs, LONG_MS));
	OK(dlock_acquire(t->theirs, LONG_MS, &theirs));
	IS(dlock_release(hold), DLOCK_ELOST);
	OK(dlock_release(theirs));
}

ROW(redisson_fair)
{
	cr_assert(dlock_caps(t->client) & DLOCK_CAP_FAIR);
}

ROW(redisson_fenced)
{
	dlock_hold *hold = coming_take(t->lock);
	uint64_t token = dlock_token(hold);

	OK(dlock_release(hold));
	hold = coming_take(t->theirs);
	cr_assert_gt(dlock_token(hold), token);
	OK(dlock_release(hold));
}

ROW(redisson_expirable_permit)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;
	dlock_lock *lock, *twin;
	dlock_hold *hold, *theirs;

	OK(dlock_semaphore_new(&lock, t->client, t->name, 1));
	OK(dlock_semaphore_new(&twin, t->other, t->name, 1));
	o.max_hold_ms = 200;
	OK(dlock_acquire_opts(lock, &o, &hold));
	OK(dlock_acquire(twin, LONG_MS, &theirs));
	IS(dlock_release(hold), DLOCK_ELOST);
	OK(dlock_release(theirs));
	dlock_lock_free(twin);
	dlock_lock_free(lock);
}

ROW(redisson_async)
{
	coming_async(t, DLOCK_FOREVER);
}

const struct coming_row redisson_rows[] = {
	{ "redisson_lock", redisson_lock },
	{ "redisson_try", redisson_try },
	{ "redisson_lease", redisson_lease },
	{ "redisson_try_lease", redisson_try_lease },
	{ "redisson_is_locked", redisson_is_locked },
	{ "redisson_hold_count", redisson_hold_count },
	{ "redisson_remaining", redisson_remaining },
	{ "redisson_force_unlock", redisson_force_unlock },
	{ "redisson_fair", redisson_fair },
	{ "redisson_fenced", redisson_fenced },
	{ "redisson_expirable_permit", redisson_expirable_permit },
	{ "redisson_async", redisson_async },
	{ NULL, NULL },
};
