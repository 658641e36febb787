/* SPDX-License-Identifier: Apache-2.0 */
/* Revocable holds, and dlock_revoke(). */
#include "core/passing.h"

TestSuite(revoke, .init = fixture, .timeout = 60);

CASE(revoke, bad_arguments_are_refused)
{
	dlock_lock *many;

	given_hold("fakewant:");
	INVALID(dlock_revocable(NULL), "hold is NULL");
	INVALID(dlock_wanted_fd(NULL), "hold is NULL");
	INVALID(dlock_revoke(NULL, 0), "lock is NULL");
	OK(dlock_multi_new(&many, &lock, 1));
	INVALID(dlock_revoke(many, 0), "members");
	dlock_lock_free(many);
	OK(dlock_release(hold));
}

CASE(revoke, with_a_bad_timeout_tells_no_holder)
{
	keep_diary();
	given_hold("fakewant:?keep=1h");
	OK(dlock_revocable(hold));
	INVALID(dlock_revoke(lock, -5), "timeout_ms is -5");
	ALL_ALONG(20, told_of(DLOCK_WANTED) == 0);
	OK(dlock_release(hold));
	cr_assert_eq(stats(client).kept, 1);
}

CASE(revoke, needs_a_store_that_can_tell)
{
	given_hold("fake:");
	REFUSED(dlock_revocable(hold), DLOCK_ENOTSUP, "cannot tell");
	REFUSED(dlock_wanted_fd(hold), DLOCK_ENOTSUP, "cannot tell");
	REFUSED(dlock_revoke(lock, 0), DLOCK_ENOTSUP, "fake: cannot tell");
	OK(dlock_release(hold));
}

CASE(revoke, of_permits_needs_a_store_that_can_tell)
{
	given_semaphore("fakewant:", 2);
	hold = take(lock);
	REFUSED(dlock_revocable(hold), DLOCK_ENOTSUP, "permits");
	REFUSED(dlock_revoke(lock, 0), DLOCK_ENOTSUP, "dlock_break()");
	OK(dlock_release(hold));
}

/* Messages may be late, doubled, or about a claim long gone. */
CASE(revoke, bears_any_message)
{
	uint64_t gone;

	keep_diary();
	given_hold("fakewant:");
	gone = last_id();
	OK(dlock_revocable(hold));
	OK(dlock_release(hold));
	fake_want(fake, gone);
	hold = take(lock);
	fake_want(fake, gone);
	fake_want(fake, last_id());
	cr_assert_eq(told_of(DLOCK_WANTED), 0);
	OK(dlock_revocable(hold));
	fake_want(fake, last_id());
	fake_want(fake, last_id());
	EVENTUALLY(told_of(DLOCK_WANTED) == 1);
	ALL_ALONG(20, told_of(DLOCK_WANTED) == 1);
	OK(dlock_release(hold));
}

/* The store does not answer, and no event would come, so the caller gets the
 * error. */
CASE(revoke, that_the_store_does_not_hear_of_is_an_error)
{
	keep_diary();
	given_hold("fakewant:");
	fake_once(fake, FAKE_WATCH, FAKE_REFUSE);
	cr_assert_eq(dlock_revocable(hold), DLOCK_EUNREACHABLE);
	fake_want(fake, last_id());
	fake_once(fake, FAKE_REVOKE, FAKE_REFUSE);
	cr_assert_eq(dlock_revoke(lock, 100), DLOCK_EUNREACHABLE);
	cr_assert_eq(told_of(DLOCK_WANTED), 0);
	OK(dlock_release(hold));
}

/* The holder in this client hears of the revoke without the store. */
CASE(revoke, by_its_own_client_needs_no_store)
{
	given_hold("fakewant:");
	cr_assert(!is_readable(dlock_wanted_fd(hold), 0));
	fake_once(fake, FAKE_REVOKE, FAKE_REFUSE);
	cr_assert_eq(dlock_revoke(lock, 100), DLOCK_EUNREACHABLE);
	cr_assert(is_readable(dlock_wanted_fd(hold), 0));
	OK(dlock_release(hold));
}

/* The store can tell of wants without a range of tokens. */
CASE(revoke, needs_no_tokens)
{
	given_hold("fakewant:");
	FAKE_SCRIPT(fake, FAKE_WATCH, .tokens = -1);
	cr_assert(!is_readable(dlock_wanted_fd(hold), 0));
	fake_want(fake, last_id());
	cr_assert(is_readable(dlock_wanted_fd(hold), 0));
	OK(dlock_release(hold));
}

/* The next holder of the same claim is not revocable. */
CASE(revoke, is_not_passed_on)
{
	struct taker t = { 0 };
	int fd;

	keep_diary();
	given_hold("fakewant:?passes=9");
	fd = dlock_wanted_fd(hold);
	wait_here(&t, FOREVER);
	cr_assert(!is_readable(fd, 0));
	OK(dlock_release(hold));
	EVENTUALLY(t.done);
	fake_want(fake, last_id());
	OK(dlock_revoke(lock, 1000));
	ALL_ALONG(20, told_of(DLOCK_WANTED) == 0);
	OK(let_go(&t));
}

static atomic_int releases;

ON_EVENT(release_it)
{
	if (event == DLOCK_WANTED)
		releases += dlock_release(about) == DLOCK_OK;
}

CASE(revoke, ends_in_a_release_by_the_callback)
{
	options.on_event = release_it;
	given_unbound("fakewant:");
	hold = take(lock);
	OK(dlock_revocable(hold));
	OK(dlock_revoke(lock, 1000));
	EVENTUALLY(releases == 1);
	cr_assert_eq(fake_held(fake), 0);
}

/* Members in stores that cannot tell are left out, unless all members are. */
CASE(revoke, of_a_multi_lock_is_of_its_members)
{
	dlock_client *other = closed_at_end(open_store("fake://two", NULL));
	dlock_lock *many, *members[2];

	keep_diary();
	given_mutex("fakewant:");
	members[0] = lock;
	members[1] = mutex(other, "b");
	OK(dlock_multi_new(&many, members, 2));
	OK(dlock_acquire(many, 1000, &hold));
	OK(dlock_revocable(hold));
	INVALID(dlock_wanted_fd(hold), "members");
	OK(dlock_revoke(lock, 1000));
	EVENTUALLY(told_of(DLOCK_WANTED) == 1);
	OK(dlock_release(hold));
	dlock_lock_free(many);
	OK(dlock_multi_new(&many, members + 1, 1));
	OK(dlock_acquire(many, 1000, &hold));
	REFUSED(dlock_revocable(hold), DLOCK_ENOTSUP, "cannot tell");
	OK(dlock_release(hold));
	dlock_lock_free(many);
}
