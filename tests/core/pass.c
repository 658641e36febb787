/* SPDX-License-Identifier: Apache-2.0 */
/* Claims passed from thread to thread of a client. */
#include "core/passing.h"

#include <fcntl.h>

TestSuite(pass, .init = timed_fixture, .timeout = 60);

CASE(pass, asks_the_store_for_nothing_and_keeps_the_order)
{
	enum { N = 5 };
	struct taker t[N] = { { 0 } };
	uint64_t last;

	given_hold("fakewant:?ttl=20s");
	n_wait_here(t, N);
	ALL_ALONG(20, asked() == 1);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 1);
	last = dlock_token(hold);
	OK(dlock_release(hold));
	cr_assert_eq(have_had_it(t, N, last), last + N);
	last += N;
	cr_assert_eq(asked(), 1);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 1);
	cr_assert_eq(fake_last(fake, FAKE_RELEASE).token_used, last);
	cr_assert_eq(stats(client).passed, N);
	cr_assert_eq(stats(client).granted, N + 1);
	cr_assert_eq(stats(client).released, N + 1);
	cr_assert_eq(stats(client).wait.count, N + 1);
	cr_assert_eq(stats(client).hold.count, N + 1);
	nothing_is_left();
	/* The next grant's token is above the tokens of all passed holds. */
	hold = take(lock);
	cr_assert_eq(dlock_token(hold), last + 1);
	OK(dlock_release(hold));
	cr_assert_eq(fake_last(fake, FAKE_RELEASE).token_used, 0);
}

/* The release comes while the store is asked to watch the claim. */
CASE(pass, waits_for_the_watch)
{
	struct taker t = { .linger = 1 };
	struct releaser r;

	given_unbound("fakewant:");
	hold = take(lock);
	FAKE_SCRIPT(fake, FAKE_WATCH, .gate = 1);
	taker_start(&t, lock, FOREVER);
	EVENTUALLY(fake_count(fake, FAKE_WATCH) == 1);
	releaser_start(&r, hold);
	EVENTUALLY(calls_under_way(client) == 2);
	ALL_ALONG(20, !r.done);
	fake_open_gate(fake);
	OK(releaser_join(&r));
	has_had_it(&t);
	cr_assert_eq(stats(client).passed, 1);
	cr_assert_eq(asked(), 1);
}

/* Checks that each waiter asks the store when the watch fails. A silent store
 * would hold up the releases as well, so the script ends before. */
static void watch_fails(struct fake_step step, int answers)
{
	struct taker t[3] = { { 0 } };
	uint64_t passed = stats(client).passed;
	size_t before = asked();

	step.times = FAKE_ALWAYS;
	fake_script(fake, FAKE_WATCH, step);
	hold = take(lock);
	n_wait_here(t, 3);
	cr_assert_eq(asked(), before + 4);
	if (!answers)
		fake_clear(fake);
	OK(dlock_release(hold));
	have_had_it(t, 3, 0);
	cr_assert(!answers || stats(client).passed == passed);
	fake_clear(fake);
	nothing_is_left();
}

CASE(pass, needs_a_store_that_watches)
{
	given_mutex("fakewant:?close=100ms");
	watch_fails((struct fake_step){ .fault = FAKE_REFUSE }, 1);
	watch_fails((struct fake_step){ .fault = FAKE_CUT }, 1);
	watch_fails((struct fake_step){ .fault = FAKE_CODE,
					.code = DLOCK_EDENIED },
		    1);
	watch_fails((struct fake_step){ .fault = FAKE_SILENT }, 0);
	watch_fails((struct fake_step){ .delay_ms = 10000 }, 0);
}

/* Checks that the waiter asks the store. */
static void is_not_passed(dlock_lock *l, dlock_hold *h)
{
	struct taker t = { 0 };
	size_t before = asked(), released = fake_count(fake, FAKE_RELEASE);

	wait_in(&t, l, FOREVER);
	cr_assert_eq(asked(), before + 1);
	OK(dlock_release(h));
	has_had_it(&t);
	cr_assert_eq(stats(client).passed, 0);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), released + 2);
}

CASE(pass, is_for_exclusive_locks_of_a_store_that_can_tell)
{
	dlock_lock *s, *rw;

	given_client("fakewant:");
	s = semaphore(client, "s", 1);
	rw = rwlock(client, "rw");
	is_not_passed(s, take(s));
	is_not_passed(rw, take_shared(rw, 0));
	close_client();
	given_hold("fake:");
	is_not_passed(lock, hold);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 0);
}

CASE(pass, is_not_for_a_try)
{
	struct taker t = { 0 };

	given_hold("fakewant:");
	taker_start(&t, lock, 0);
	cr_assert_eq(taker_join(&t), DLOCK_EBUSY);
	cr_assert_eq(asked(), 2);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 0);
	OK(dlock_release(hold));
	nothing_is_left();
}

TestSuite(pass_next, .init = timed_fixture, .timeout = 120);

/* ---- Losses -------------------------------------------------------------- */

/* The waiters ask the store, and only the holder hears of the loss. */
CASE(pass_next, of_a_lost_claim_sends_the_waiters_to_the_store)
{
	struct taker t[2] = { { 0 } };
	uint64_t token;

	keep_diary();
	given_hold("fakewant:");
	n_wait_here(t, 2);
	cr_assert_eq(asked(), 1);
	lose_last();
	token = dlock_token(hold);
	EVENTUALLY(t[0].done || t[1].done);
	EVENTUALLY(diary.losses == 1); /* no event follows the release */
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
	t[0].linger = t[1].linger = 0; /* in any order */
	has_had_it(&t[0]);
	has_had_it(&t[1]);
	cr_assert_gt(t[0].token, token);
	cr_assert_gt(t[1].token, token);
	cr_assert_eq(diary.losses, 1);
	cr_assert_eq(diary.page[diary.n - 1].hold, hold);
	nothing_is_left();
	cr_assert_geq(asked(), 2);
}

/* ---- The next hold ------------------------------------------------------- */

CASE(pass_next, of_what_is_at_risk_is_the_store_s)
{
	struct taker t = { 0 };

	keep_diary();
	given_mutex("fakewant:?ttl=3s");
	fake_always(fake, FAKE_RENEW, FAKE_REFUSE);
	hold = take(lock);
	wait_here(&t, FOREVER);
	EVENTUALLY(diary.risks == 1);
	cr_assert_eq(diary.page[0].hold, hold);
	OK(dlock_release(hold));
	has_it(&t);
	cr_assert_eq(stats(client).passed, 0);
	fake_clear(fake);
	OK(let_go(&t));
	cr_assert_eq(diary.n, 1);
}

CASE(pass_next, leaves_the_former_holder_s_descriptor_behind)
{
	struct taker t = { 0 };
	int fd;

	keep_diary();
	given_hold("fakewant:");
	wait_here(&t, FOREVER);
	fd = dlock_hold_fd(hold);
	cr_assert_geq(fd, 0);
	OK(dlock_release(hold));
	cr_assert_eq(fcntl(fd, F_GETFD), -1);
	has_it(&t);
	fd = dlock_hold_fd(t.hold);
	cr_assert(!is_readable(fd, 0));
	lose_last();
	cr_assert(is_readable(fd, 0));
	EVENTUALLY(diary.losses == 1);
	cr_assert_eq(diary.page[0].hold, t.hold);
	let_go(&t);
	cr_assert_eq(t.release_rc, DLOCK_ELOST);
	nothing_is_left();
}
