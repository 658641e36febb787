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

	INVALID(dlock_mutex_new(&none, client, "a\nb"), "byte 2 of the name");
	INVALID(dlock_rwlock_new(&none, client, ""), "the name is empty");
	INVALID(dlock_semaphore_new(&none, client, NULL, 1),
		"the name is NULL");
	cr_assert_null(none);
}

CASE(arguments, of_permits_are_semaphores)
{
	dlock_acquire_options o = DLOCK_ACQUIRE_OPTIONS_INIT;

	INVALID(dlock_semaphore_resize(NULL, 1, 0), "lock is NULL");
	INVALID(dlock_semaphore_resize(lock, 1, 0),
		"only a semaphore has permits");
	INVALID(dlock_acquire_opts(NULL, &o, &hold), "lock is NULL");
	INVALID(dlock_acquire_opts(lock, &o, NULL), "out is NULL");
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

	INVALID(dlock_multi_new(&none, m, n), text);
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
	INVALID(dlock_multi_new(NULL, m, 1), "out is NULL");
	INVALID(dlock_acquire_shared(m[1], 0, &none), "read side");
	INVALID(dlock_break(m[1], 0), "members");
	hold = take(m[1]);
	cr_assert_null(dlock_member(hold, SIZE_MAX));
	cr_assert_eq(dlock_remaining_ms(hold), -1);
	INVALID(dlock_extend(hold, 100), "no end to move");
	INVALID(dlock_extend(hold, 0), "ms is 0");
	OK(dlock_release(hold));
}

CASE(arguments, of_asynchronous_calls_are_multi_locks_of_no_thread)
{
	static struct outcome never;
	dlock_lock *m[] = { unbound(client, "u"), mutex(client, "b") };
	dlock_lock *both = multi(m, 2);

	INVALID(dlock_acquire_start(both, 0, outcome_note, &never, NULL),
		"lock 'b': the holds of this handle");
	INVALID(dlock_acquire_shared_start(both, 0, outcome_note, &never, NULL),
		"read side");
	INVALID(dlock_break_start(both, 0, outcome_note, &never), "members");
	cr_assert(outcome_pending(&never));
}

/* ---- Read sides ---------------------------------------------------------- */

CASE(arguments, of_the_read_side_are_read_write_locks)
{
	dlock_lock *plain = mutex(client, "b");

	INVALID(dlock_lock_use_read_side(NULL), "lock is NULL");
	INVALID(dlock_lock_sticky_cancel(NULL), "NULL");
	INVALID(dlock_lock_use_read_side(plain), "read-write");
	INVALID(dlock_lock_use_read_side(multi(&plain, 1)), "read-write");
}

CASE(arguments, of_an_upgrade_are_of_one_lock)
{
	static struct outcome never;
	dlock_lock *upg = upgradeable(lock), *none = NULL;
	char longest[DLOCK_NAME_SIZE] = "";
	dlock_hold *w = NULL;

	INVALID(dlock_upgradeable_new(NULL, lock), "out");
	INVALID(dlock_upgradeable_new(&none, NULL), "rwlock");
	INVALID(dlock_upgradeable_new(&none, upg), "only a read-write lock");
	INVALID(dlock_upgradeable_new(&none, mutex(client, "b")),
		"only a read-write lock");
	cr_assert_null(none);
	hold = take(upg);
	INVALID(dlock_upgrade(upg, hold, 0, NULL), "out");
	INVALID(dlock_upgrade(upgradeable(rwlock(client, "b")), hold, 0, &w),
		"not of lock 'b'");
	INVALID(dlock_upgrade(upg, hold, -2, &w), "timeout_ms");
	cr_assert_null(w);
	INVALID(dlock_upgrade_start(upg, hold, 0, outcome_note, &never, NULL),
		"dlock_lock_unbind");
	INVALID(dlock_upgrade_start(upg, hold, 0, NULL, NULL, NULL),
		"done is NULL");
	OK(dlock_release(hold));
	OK(dlock_lock_unbind(lock));
	upg = upgradeable(lock);
	hold = take(upg);
	INVALID(dlock_upgrade_start(upg, hold, -2, outcome_note, &never, NULL),
		"timeout");
	OK(dlock_release(hold));
	cr_assert(outcome_pending(&never));
	memset(longest, 'n', sizeof(longest) - 1);
	OK(dlock_release(take(upgradeable(rwlock(client, longest)))));
}
