/* SPDX-License-Identifier: Apache-2.0 */
/* Bad arguments: the core refuses the call before the store hears of the
 * call. */
#include "core/calls.h"

#include <string.h>

static void set_up(void)
{
	fixture();
	given_rwlock("fake:");
}

TestSuite(arguments, .init = set_up, .timeout = 60);

CASE(arguments, bad_names_are_of_no_lock)
{
	dlock_lock *none = NULL;

	REFUSED(dlock_mutex_new(&none, client, "a\nb"), DLOCK_EINVAL,
		"byte 2 of the name");
	REFUSED(dlock_rwlock_new(&none, client, ""), DLOCK_EINVAL,
		"the name is empty");
	REFUSED(dlock_semaphore_new(&none, client, NULL, 1), DLOCK_EINVAL,
		"the name is NULL");
	cr_assert_null(none);
}

CASE(arguments, of_permits_are_semaphores)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	REFUSED(dlock_semaphore_resize(NULL, 1, 0), DLOCK_EINVAL,
		"lock is NULL");
	REFUSED(dlock_semaphore_resize(lock, 1, 0), DLOCK_EINVAL,
		"only a semaphore has permits");
	REFUSED(dlock_acquire_opts(NULL, &o, &hold), DLOCK_EINVAL,
		"lock is NULL");
	REFUSED(dlock_acquire_opts(lock, &o, NULL), DLOCK_EINVAL,
		"out is NULL");
}

CASE(arguments, that_are_null_do_nothing)
{
	cr_assert_eq(dlock_check(NULL), DLOCK_EINVAL);
	cr_assert_eq(dlock_extend(NULL, 100), DLOCK_EINVAL);
	cr_assert_eq(dlock_remaining_ms(NULL), 0);
	cr_assert_null(dlock_member(NULL, 0));
	dlock_cancel(NULL);
	dlock_lock_free(NULL);
	dlock_close(NULL);
}

/* ---- Multi-locks --------------------------------------------------------- */

static void refuses(dlock_lock *const m[], size_t n, const char *text)
{
	dlock_lock *none = NULL;

	REFUSED(dlock_multi_new(&none, m, n), DLOCK_EINVAL, text);
	cr_assert_null(none);
}

CASE(arguments, of_a_multi_lock_are_several_locks)
{
	dlock_lock *m[3] = { lock, NULL, mutex(client, "b") };
	dlock_hold *none;

	refuses(m, 0, "at least one member");
	refuses(NULL, 3, "at least one member");
	refuses(m, 3, "member 1 is NULL");
	m[1] = mutex(client, "a");
	refuses(m, 3, "'a' is a member twice");
	m[1] = multi(&lock, 1);
	refuses(m, 3, "member 1 is a multi-lock");
	REFUSED(dlock_multi_new(NULL, m, 1), DLOCK_EINVAL, "out is NULL");
	REFUSED(dlock_acquire_shared(m[1], 0, &none), DLOCK_EINVAL,
		"read side");
	REFUSED(dlock_break(m[1], 0), DLOCK_EINVAL, "members");
	hold = take(m[1]);
	cr_assert_null(dlock_member(hold, SIZE_MAX));
	cr_assert_eq(dlock_remaining_ms(hold), -1);
	REFUSED(dlock_extend(hold, 100), DLOCK_EINVAL, "no end to move");
	OK(dlock_release(hold));
}

CASE(arguments, of_asynchronous_calls_are_multi_locks_of_no_thread)
{
	static struct outcome never;
	dlock_lock *m[] = { unbound(client, "u"), mutex(client, "b") };
	dlock_lock *both = multi(m, 2);

	REFUSED(dlock_acquire_start(both, 0, outcome_note, &never, NULL),
		DLOCK_EINVAL, "lock 'b': the holds of this handle");
	REFUSED(dlock_acquire_shared_start(both, 0, outcome_note, &never, NULL),
		DLOCK_EINVAL, "read side");
	REFUSED(dlock_break_start(both, 0, outcome_note, &never), DLOCK_EINVAL,
		"members");
	cr_assert(outcome_pending(&never));
}

/* ---- Read sides ---------------------------------------------------------- */

CASE(arguments, of_the_read_side_are_read_write_locks)
{
	dlock_lock *plain = mutex(client, "b");

	REFUSED(dlock_lock_use_read_side(NULL), DLOCK_EINVAL, "lock is NULL");
	REFUSED(dlock_lock_use_read_side(plain), DLOCK_EINVAL, "read-write");
	REFUSED(dlock_lock_use_read_side(multi(&plain, 1)), DLOCK_EINVAL,
		"read-write");
}

CASE(arguments, of_an_upgrade_are_of_one_lock)
{
	dlock_lock *upg = upgradeable(lock), *none = NULL;
	char longest[DLOCK_NAME_SIZE] = "";
	dlock_hold *w = NULL;

	REFUSED(dlock_upgradeable_new(NULL, lock), DLOCK_EINVAL, "out");
	REFUSED(dlock_upgradeable_new(&none, NULL), DLOCK_EINVAL, "rwlock");
	REFUSED(dlock_upgradeable_new(&none, upg), DLOCK_EINVAL,
		"only a read-write lock");
	REFUSED(dlock_upgradeable_new(&none, mutex(client, "b")), DLOCK_EINVAL,
		"only a read-write lock");
	cr_assert_null(none);
	hold = take(upg);
	REFUSED(dlock_upgrade(upg, hold, 0, NULL), DLOCK_EINVAL, "out");
	REFUSED(dlock_upgrade(upgradeable(rwlock(client, "b")), hold, 0, &w),
		DLOCK_EINVAL, "not of lock 'b'");
	REFUSED(dlock_upgrade(upg, hold, -2, &w), DLOCK_EINVAL, "timeout_ms");
	cr_assert_null(w);
	OK(dlock_release(hold));
	memset(longest, 'n', sizeof(longest) - 1);
	OK(dlock_release(take(upgradeable(rwlock(client, longest)))));
}
