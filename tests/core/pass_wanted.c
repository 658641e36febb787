/* SPDX-License-Identifier: Apache-2.0 */
/* Passed claims that another session wants. */
#include "core/passing.h"

TestSuite(pass_wanted, .init = timed_fixture, .timeout = 60);

/* A waiter from before the other session comes before that session, and a later
 * waiter asks the store. */
CASE(pass_wanted, goes_to_the_store_after_those_that_asked_before)
{
	struct taker t[4] = { { 0 } }, other = { 0 };
	uint64_t last;

	given_hold("fakewant:");
	given_others();
	n_wait_here(t, 2);
	others_wait(&other);
	cr_assert_eq(asked(), 2);
	n_wait_here(t + 2, 2);
	cr_assert_eq(asked(), 4);
	OK(dlock_release(hold));
	last = have_had_it(t, 2, 0);
	has_it(&other);
	cr_assert_gt(other.token, last);
	cr_assert_eq(t[2].done, 0);
	OK(let_go(&other));
	have_had_it(t + 2, 2, other.token);
	cr_assert_eq(stats(client).passed, 2);
	nothing_is_left();
}

/* The core sets the watch anew after a second. The answer tells of another
 * session, but the message alone tells since when. */
CASE(pass_wanted, keeps_the_order_behind_a_long_hold)
{
	struct taker t[2] = { { 0 } }, other = { 0 };

	given_hold("fakewant:");
	given_others();
	wait_here(&t[0], FOREVER);
	others_wait(&other);
	wait_here(&t[1], FOREVER);
	clock_leaps(1500);
	OK(dlock_release(hold));
	has_it(&t[0]);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 2);
	cr_assert_eq(other.done, 0);
	OK(let_go(&t[0]));
	has_had_it(&other);
	has_had_it(&t[1]);
	cr_assert_eq(stats(client).passed, 1);
}

/* The store names a session that has no claim. */
CASE(pass_wanted, may_be_the_store_s_answer)
{
	struct taker t[3] = { { 0 } };

	given_hold("fakewant:");
	FAKE_SCRIPT(fake, FAKE_WATCH, .wanted = 1, .times = FAKE_ALWAYS);
	n_wait_here(t, 3);
	cr_assert_eq(asked(), 4);
	cr_assert_eq(fake_count(fake, FAKE_WATCH), 1);
	OK(dlock_release(hold));
	have_had_it(t, 3, 0);
	cr_assert_eq(stats(client).passed, 0);
	fake_clear(fake);
}

CASE(pass_wanted, lets_so_many_pass_as_the_uri_says)
{
	struct taker first = { 0 }, t[3] = { { 0 } }, other = { 0 };

	given_client("fakewant:");
	cr_assert(dlock_caps(client) & DLOCK_CAP_FAIR);
	close_client();
	given_hold("fakewant:?passes=2");
	cr_assert_eq(dlock_caps(client) & DLOCK_CAP_FAIR, 0);
	given_others();
	wait_here(&first, FOREVER);
	OK(dlock_release(hold));
	has_it(&first);
	others_wait(&other);
	n_wait_here(t, 3);
	cr_assert_eq(asked(), 2);
	OK(let_go(&first));
	have_had_it(t, 2, first.token);
	has_it(&other);
	cr_assert_eq(t[2].done, 0);
	OK(let_go(&other));
	has_had_it(&t[2]);
	cr_assert_eq(stats(client).passed, 3);
	nothing_is_left();
}

/* The message overtakes the answer, which names no other session. */
CASE(pass_wanted, may_be_told_before_the_store_has_answered)
{
	struct taker t[2] = { { 0 } };

	given_hold("fakewant:");
	FAKE_SCRIPT(fake, FAKE_WATCH, .gate = 1);
	taker_start(&t[0], lock, FOREVER);
	t[0].linger = 1;
	EVENTUALLY(fake_count(fake, FAKE_WATCH) == 1);
	fake_want(fake, last_id());
	fake_open_gate(fake);
	EVENTUALLY(stats(client).waiters == 1);
	ALL_ALONG(20, asked() == 1);
	wait_here(&t[1], FOREVER);
	cr_assert_eq(asked(), 2);
	OK(dlock_release(hold));
	have_had_it(t, 2, 0);
	cr_assert_eq(stats(client).passed, 1);
}

/* Two threads take turns for as long as the client may pass. */
static atomic_int going;

static void *take_turns(void *unused)
{
	while (atomic_load(&going)) {
		dlock_hold *h = take(lock, FOREVER);

		nap_ms(2);
		CHECK_OK(dlock_release(h));
	}
	return unused;
}

/* A lost message delays the other session by a second. */
CASE(pass_wanted, is_asked_anew_after_a_second)
{
	struct taker other = { 0 };
	pthread_t thread[2];
	int64_t began;

	given_mutex("fakewant:");
	given_others();
	fake_tell_no_wants(fake);
	atomic_store(&going, 1);
	for (int i = 0; i < 2; i++)
		thread[i] = thread_begin(take_turns, NULL);
	EVENTUALLY(stats(client).passed >= 4);
	began = now_ms();
	taker_start(&other, theirs, FOREVER);
	OK(taker_join(&other));
	cr_assert_leq(other.done_ms - began,
		      1000 + slack_ms() + stalled_ms() + 100);
	atomic_store(&going, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	nothing_is_left();
}

CASE(pass_wanted, of_any_claim_may_be_told_at_any_time)
{
	struct taker t[2] = { { 0 } }, other = { 0 };
	uint64_t id;

	given_hold("fakewant:");
	id = last_id();
	fake_want(fake, id);
	fake_want(fake, 0);
	fake_want(fake, UINT64_MAX);
	fake_want(fake, id + 1);
	wait_here(&t[0], FOREVER);
	cr_assert_eq(asked(), 1, "told before it was watched");
	OK(dlock_release(hold));
	has_had_it(&t[0]);
	cr_assert_eq(stats(client).passed, 1);
	fake_want(fake, id);
	hold = take(lock);
	fake_want(fake, id);
	wait_here(&t[1], FOREVER);
	cr_assert_eq(asked(), 2, "told of an earlier claim");
	given_others();
	others_wait(&other);
	OK(dlock_release(hold));
	has_had_it(&t[1]);
	cr_assert_eq(stats(client).passed, 2);
	has_had_it(&other);
}
