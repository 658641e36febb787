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
