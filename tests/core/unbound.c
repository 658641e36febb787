/* SPDX-License-Identifier: Apache-2.0 */
/* Unbound handles: the holds belong to no thread. */
#include "core/fixture.h"

#include <dlock/async.h>

TestSuite(unbound, .init = fixture, .timeout = 60);

static dlock_hold *taken_by_a_thread(dlock_lock *l)
{
	struct taker t = { .keep = 1 };

	taker_start(&t, l, 0);
	OK(taker_join(&t));
	return t.hold;
}

CASE(unbound, members_of_a_multi_lock_are_as_their_handles_were)
{
	dlock_lock *other, *both;

	given_unbound("fake:");
	other = mutex(client, "b");
	both = multi((dlock_lock *[]){ lock, other }, 2);
	OK(dlock_lock_unbind(other));
	hold = taken_by_a_thread(both);
	INVALID(dlock_release(hold), "lock 'b' is held by");
	cr_assert_eq(stats(client).holds, 2);
	close_client();
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

CASE(unbound, is_for_handles_of_one_lock)
{
	dlock_lock *one;

	given_mutex("fake:");
	one = multi(&lock, 1);
	INVALID(dlock_lock_unbind(NULL), "NULL");
	INVALID(dlock_lock_unbind(one), "members");
	lock = semaphore(client, "s", 1);
	OK(dlock_lock_unbind(lock));
	OK(dlock_release(taken_by_a_thread(lock)));
}

TestSuite(one_name, .init = timed_fixture, .timeout = 60);

CASE(one_name, is_one_lock_of_a_thread)
{
	dlock_lock *book;
	dlock_hold *again, *read, *none = NULL;

	given_mutex("fake:");
	book = rwlock(client, "a");
	hold = take(lock);
	OK(dlock_acquire(book, 0, &again));
	cr_assert_eq(again, hold);
	OK(dlock_release(again));
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 1);
	OK(dlock_acquire_shared(book, 0, &read));
	OK(dlock_release(hold));
	OK(dlock_check(read));
	REFUSED(dlock_acquire(lock, 0, &none), DLOCK_EDEADLK,
		"lock 'a': this thread holds the read side");
	OK(dlock_release(read));
}

TestSuite(sticky, .init = fixture, .timeout = 60);

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

	given_unbound("fake:");
	OK(dlock_lock_sticky_cancel(lock));
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
