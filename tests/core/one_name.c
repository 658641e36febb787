/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex and a read-write lock of the same name are the same lock. */
#include "core/fixture.h"

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
