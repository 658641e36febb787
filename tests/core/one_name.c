/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex and a read-write lock of one name are one lock. */
#include "core/fixture.h"

static dlock_lock *book;

static void set_up(void)
{
	timed_fixture();
	given_mutex("fake:");
	book = rwlock(client, "a");
}

TestSuite(one_name, .init = set_up, .timeout = 60);

CASE(one_name, is_one_hold_of_a_thread)
{
	dlock_hold *again;

	hold = take(lock);
	OK(dlock_acquire(book, 0, &again));
	cr_assert_eq(again, hold);
	OK(dlock_release(again));
	OK(dlock_check(hold));
	OK(dlock_release(hold));
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 1);
}

CASE(one_name, keeps_the_read_side_of_a_mutex_s_holder)
{
	dlock_hold *read;

	hold = take(lock);
	OK(dlock_acquire_shared(book, 0, &read));
	OK(dlock_release(hold));
	OK(dlock_check(read));
	OK(dlock_release(read));
}

CASE(one_name, gives_no_reader_the_mutex)
{
	dlock_hold *none = NULL;

	OK(dlock_acquire_shared(book, 0, &hold));
	REFUSED(dlock_acquire(lock, 0, &none), DLOCK_EDEADLK,
		"lock 'a': this thread holds the read side");
	OK(dlock_release(hold));
}

CASE(one_name, is_no_two_members_of_a_multi_lock)
{
	dlock_lock *both[] = { lock, book }, *out = NULL;

	REFUSED(dlock_multi_new(&out, both, 2), DLOCK_EINVAL,
		"lock 'a' is a member twice");
}
