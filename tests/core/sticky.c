/* SPDX-License-Identifier: Apache-2.0 */
/* Sticky handles: a cancel counts for the next wait. */
#include <dlock/async.h>

#include "core/fixture.h"

TestSuite(sticky, .init = fixture, .timeout = 60);

static void given_sticky(void)
{
	given_unbound("fake:");
	OK(dlock_lock_sticky_cancel(lock));
}

/* Earlier cancels of the handle do not count. */
CASE(sticky, is_so_from_the_call_on)
{
	given_mutex("fake:");
	dlock_cancel(lock);
	OK(dlock_lock_sticky_cancel(lock));
	OK(dlock_acquire(lock, 1000, &hold));
	dlock_cancel(lock);
	OK(dlock_lock_sticky_cancel(lock));
	OK(dlock_release(hold));
	REFUSED(dlock_acquire(lock, 1000, &hold), DLOCK_ECANCELED, "began");
	REFUSED(dlock_lock_sticky_cancel(NULL), DLOCK_EINVAL, "NULL");
}

CASE(sticky, cancel_of_a_multi_lock_ends_its_next_wait)
{
	dlock_lock *both;

	given_mutex("fake:");
	both = multi((dlock_lock *[]){ lock, mutex(client, "b") }, 2);
	OK(dlock_lock_sticky_cancel(both));
	dlock_cancel(both);
	REFUSED(dlock_acquire(both, 1000, &hold), DLOCK_ECANCELED, "began");
	OK(dlock_acquire(both, 1000, &hold));
	OK(dlock_release(hold));
}

CASE(sticky, cancel_that_ends_the_wait_for_a_multi_lock_is_used_up)
{
	dlock_lock *both, *b;
	struct taker t = { 0 };
	dlock_hold *h;

	given_mutex("fake:");
	b = mutex(client, "b");
	both = multi((dlock_lock *[]){ lock, b }, 2);
	OK(dlock_lock_sticky_cancel(both));
	h = take(b);
	taker_start(&t, both, -1);
	EVENTUALLY(stats(client).waiters == 1);
	dlock_cancel(both);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	OK(dlock_release(h));
	OK(dlock_acquire(both, 1000, &hold));
	OK(dlock_release(hold));
}

static void note(const struct dlock_result *r, void *arg)
{
	*(int *)arg = r->code;
}

/* dlock_cancel_op() is about a single call. */
CASE(sticky, cancel_is_not_used_up_by_that_of_an_operation)
{
	dlock_hold *h;
	dlock_op op;
	int code = 1;

	given_sticky();
	OK(dlock_acquire(lock, 1000, &h));
	OK(dlock_acquire_start(lock, -1, note, &code, &op));
	EVENTUALLY(stats(client).waiters == 1);
	OK(dlock_cancel_op(client, op));
	OK(dlock_wait(client, 1000));
	cr_assert_eq(code, DLOCK_ECANCELED);
	OK(dlock_release(h));
	OK(dlock_acquire(lock, 1000, &hold));
	OK(dlock_release(hold));
}
