/* SPDX-License-Identifier: Apache-2.0 */
/* Unbound handles: the holds belong to no thread. */
#include "core/fixture.h"

TestSuite(unbound, .init = fixture, .timeout = 60);

static dlock_hold *taken_by_a_thread(dlock_lock *l)
{
	struct taker t = { .keep = 1 };

	taker_start(&t, l, 0);
	OK(taker_join(&t));
	return t.hold;
}

/* Two reads are two holds, and no thread gets EDEADLK. */
CASE(unbound, sides_of_a_rwlock_belong_to_no_thread)
{
	dlock_hold *one, *two, *none;

	given_rwlock("fake:");
	OK(dlock_lock_unbind(lock));
	one = take_shared(lock, 0);
	two = take_shared(lock, 0);
	cr_assert_neq(one, two);
	cr_assert_eq(dlock_acquire(lock, 0, &none), DLOCK_EBUSY);
	OK(dlock_release(two));
	OK(dlock_release(one));
	hold = take(lock);
	cr_assert_eq(dlock_acquire_shared(lock, 0, &none), DLOCK_EBUSY);
	OK(dlock_release(hold));
}

CASE(unbound, members_of_a_multi_lock_are_as_their_handles_were)
{
	dlock_lock *other, *both;

	given_unbound("fake:");
	other = mutex(client, "b");
	both = multi((dlock_lock *[]){ lock, other }, 2);
	OK(dlock_lock_unbind(other));
	hold = taken_by_a_thread(both);
	REFUSED(dlock_release(hold), DLOCK_EINVAL, "lock 'b' is held by");
	cr_assert_eq(stats(client).holds, 2);
	close_client();
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

CASE(unbound, members_of_a_multi_lock_are_released_by_any_thread)
{
	dlock_lock *other;

	given_unbound("fake:");
	other = unbound(client, "b");
	OK(dlock_release(
		taken_by_a_thread(multi((dlock_lock *[]){ lock, other }, 2))));
	cr_assert_eq(stats(client).holds, 0);
}

CASE(unbound, is_for_handles_of_one_lock)
{
	dlock_lock *one;

	given_mutex("fake:");
	one = multi(&lock, 1);
	REFUSED(dlock_lock_unbind(NULL), DLOCK_EINVAL, "NULL");
	REFUSED(dlock_lock_unbind(one), DLOCK_EINVAL, "members");
	lock = semaphore(client, "s", 1);
	OK(dlock_lock_unbind(lock));
	OK(dlock_release(taken_by_a_thread(lock)));
}
