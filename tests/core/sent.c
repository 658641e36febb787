/* SPDX-License-Identifier: Apache-2.0 */
/* release=async: the release is sent, and the answer comes later. */
#include "core/passing.h"

TestSuite(sent, .init = timed_fixture, .timeout = 120);

enum { PAIRS = 20 };

static size_t sent(void)
{
	return fake_count(fake, FAKE_SEND);
}

static size_t released(void)
{
	return fake_count(fake, FAKE_RELEASE);
}

static void given_sent(struct fake_step step)
{
	keep_diary();
	given_hold("fakesend:?release=async&ask=5s&close=300ms");
	fake_script(fake, FAKE_SEND, step);
	OK(dlock_release(hold));
	cr_assert_eq(sent(), 1);
}

/* ---- The answer ---------------------------------------------------------- */

CASE(sent, is_a_release_before_the_answer_comes)
{
	given_sent((struct fake_step){ 0 });
	cr_assert_eq(fake_held(fake), 0);
	cr_assert_eq(stats(client).holds, 0);
	cr_assert_eq(stats(client).released, 1);
	cr_assert_eq(stats(client).pending_cleanups, 1);
	fake_answer(fake);
	cr_assert_eq(stats(client).pending_cleanups, 0);
	cr_assert_eq(released(), 0);
	cr_assert_eq(told_of(DLOCK_LOST), 0);
}

CASE(sent, is_answered_with_the_next_request)
{
	given_mutex("fakesend:?release=async&ask=5s");
	for (int i = 0; i < PAIRS; i++)
		OK(dlock_release(take(lock)));
	cr_assert_eq(asked(), PAIRS);
	cr_assert_eq(sent(), PAIRS);
	cr_assert_eq(released(), 0);
	cr_assert_eq(stats(client).pending_cleanups, 1);
	cr_assert_eq(stats(client).released, PAIRS);
}

CASE(sent, may_be_answered_before_it_returns)
{
	given_sent((struct fake_step){ .early = 1 });
	cr_assert_eq(stats(client).pending_cleanups, 0);
	cr_assert_eq(released(), 0);
}

/* A late answer is not taken for an answer about the next hold. */
CASE(sent, is_answered_once)
{
	uint64_t id;

	given_sent((struct fake_step){ 0 });
	id = fake_last(fake, FAKE_SEND).id;
	fake_answer(fake);
	hold = take(lock);
	fake_say_released(fake, id, DLOCK_ELOST);
	fake_say_released(fake, last_id(), DLOCK_ELOST);
	fake_say_released(fake, last_id(), 0);
	fake_say_released(fake, UINT64_MAX, 0);
	OK(dlock_check(hold));
	cr_assert_eq(stats(client).lost, 0);
	cr_assert_eq(stats(client).holds, 1);
	cr_assert_eq(told_of(DLOCK_LOST), 0);
	OK(dlock_release(hold));
}

/* ---- A loss -------------------------------------------------------------- */

static uint64_t lost_token;

ON_EVENT(note_token)
{
	if (event == DLOCK_LOST)
		lost_token = dlock_token(about);
	diary_event(about, event, why, arg);
}

CASE(sent, that_finds_nothing_is_an_event)
{
	uint64_t token;

	events_call(note_token);
	given_hold("fakesend:?release=async&ask=5s");
	token = dlock_token(hold);
	fake_forget(fake);
	OK(dlock_release(hold));
	cr_assert_eq(told_of(DLOCK_LOST), 0);
	fake_answer(fake);
	EVENTUALLY(told_of(DLOCK_LOST) == 1);
	cr_assert_eq(lost_token, token);
	cr_assert_eq(diary.page[0].check, DLOCK_ELOST);
	cr_assert_str_eq(diary.page[0].why, "the store no longer had it");
	cr_assert_eq(stats(client).lost, 1);
	cr_assert_eq(stats(client).pending_cleanups, 0);
	cr_assert_eq(released(), 0);
}

/* A lease that ended by time is no loss. */
CASE(sent, that_is_answered_after_the_lease_lost_nothing)
{
	keep_diary();
	clock_leaps(0);
	given_hold("fakesend:?release=async&ask=5s&ttl=10s");
	fake_always(fake, FAKE_RELEASE, FAKE_REFUSE);
	OK(dlock_release(hold));
	fake_forget(fake);
	clock_leaps(11000);
	fake_say_released(fake, fake_last(fake, FAKE_SEND).id, DLOCK_ELOST);
	fake_clear(fake);
	nothing_is_left();
	cr_assert_eq(told_of(DLOCK_LOST), 0);
	cr_assert_eq(stats(client).lost, 0);
}

/* The client knows without the store that the lease is over. */
CASE(sent, is_not_what_has_run_out)
{
	clock_leaps(0);
	given_hold("fakesend:?release=async&ttl=10s");
	clock_leaps(11000);
	REFUSED(dlock_release(hold), DLOCK_ELOST, "ran out");
	cr_assert_eq(sent(), 0);
}

/* ---- No answer ----------------------------------------------------------- */

CASE(sent, is_asked_for_again_without_an_answer)
{
	given_sent(
		(struct fake_step){ .fault = FAKE_LATE, .late_ms = 3600000 });
	cr_assert_eq(fake_held(fake), 1);
	EVENTUALLY(released() == 1);
	nothing_is_left();
	cr_assert_eq(told_of(DLOCK_UNCONFIRMED), 0);
}

CASE(sent, that_stays_unconfirmed_is_an_event)
{
	keep_diary();
	given_hold("fakesend:?release=async");
	FAKE_SCRIPT(fake, FAKE_SEND, .answer = DLOCK_EUNREACHABLE);
	fake_always(fake, FAKE_RELEASE, FAKE_REFUSE);
	OK(dlock_release(hold));
	fake_answer(fake);
	EVENTUALLY(told_of(DLOCK_UNCONFIRMED) == 1);
	EVENTUALLY(released() >= 3);
	cr_assert_eq(told_of(DLOCK_UNCONFIRMED), 1);
	cr_assert_eq(stats(client).lost, 0);
	fake_clear(fake);
	nothing_is_left();
	cr_assert_eq(told_of(DLOCK_LOST), 0);
}

CASE(sent, may_fail_at_once)
{
	given_hold("fakesend:?release=async&close=300ms");
	fake_once(fake, FAKE_SEND, FAKE_REFUSE);
	REFUSED(dlock_release(hold), DLOCK_EUNREACHABLE, "scripted");
	EVENTUALLY(released() == 1);
	nothing_is_left();
}

/* A try waits for the client's own release. */
CASE(sent, is_not_in_the_way_of_the_client)
{
	given_sent(
		(struct fake_step){ .fault = FAKE_LATE, .late_ms = 3600000 });
	OK(dlock_acquire(lock, 0, &hold));
	cr_assert_eq(released(), 1);
	OK(dlock_release(hold));
	fake_answer(fake);
	nothing_is_left();
}

/* ---- Not sent ------------------------------------------------------------ */

CASE(sent, is_not_what_is_asked_for_twice)
{
	given_mutex("fakesend:?release=async&ttl=1s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .resent = 1, .late_ms = 300);
	OK(dlock_release(take(lock)));
	cr_assert_eq(sent(), 0);
	/* The clean-up releases the claim once more, perhaps already. */
	cr_assert_geq(released(), 1);
	EVENTUALLY(stats(client).pending_cleanups == 0);
}

CASE(sent, is_not_what_is_passed_on)
{
	struct taker t = { 0 };

	given_hold("fakesend:?release=async&ask=5s");
	wait_here(&t, FOREVER);
	OK(dlock_release(hold));
	cr_assert_eq(sent(), 0);
	has_had_it(&t);
	cr_assert_eq(sent() + released(), 1);
}

CASE(sent, is_not_what_the_uri_has_answered_at_once)
{
	given_hold("fakesend:?release=sync");
	OK(dlock_release(hold));
	cr_assert_eq(sent(), 0);
	cr_assert_eq(released(), 1);
}

/* ---- The end ------------------------------------------------------------- */

CASE(sent, is_not_waited_for_by_a_close)
{
	given_sent((struct fake_step){ 0 });
	close_client_within(1000);
	cr_assert_eq(fake_held(fake), 0);
}

CASE(sent, is_asked_for_again_by_a_close)
{
	given_sent(
		(struct fake_step){ .fault = FAKE_LATE, .late_ms = 3600000 });
	close_client_within(1000);
	cr_assert_eq(fake_held(fake), 0);
}
