/* SPDX-License-Identifier: Apache-2.0 */
/* Closing with calls under way, with holds and with clean-ups. */
#include "core/fixture.h"

#include <poll.h>
#include <stdio.h>

TestSuite(close, .init = timed_fixture, .timeout = 60);

/* The store answers no verb, and `close` bounds the whole close. */
CASE(close, keeps_its_time_with_a_silent_store)
{
	struct taker t = { 0 };
	dlock_lock *other;
	dlock_hold *a, *b;

	given_mutex("fake:?ttl=900ms&close=300ms");
	other = mutex(client, "b");
	a = take(lock);
	b = take(other);
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	fake_always(fake, FAKE_RELEASE, FAKE_SILENT);
	fake_always(fake, FAKE_RENEW, FAKE_SILENT);
	fake_once(fake, FAKE_CLOSE, FAKE_SILENT);
	cr_assert_eq(dlock_release(b), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_acquire(other, 0, &hold), DLOCK_EUNREACHABLE);
	taker_start(&t, mutex(client, "c"), -1);
	EVENTUALLY(fake_last(fake, FAKE_ATTEMPT).end == 0);
	close_client_within(300 + 200);
	cr_assert_eq(taker_join(&t), DLOCK_ECANCELED);
	cr_assert_eq(dlock_release(a), DLOCK_ELOST);
}

/* The renewer has begun a renewal when the client closes, and has clean-ups
 * left. */
CASE(close, keeps_its_time_while_a_renewal_hangs_and_cleanups_wait)
{
	dlock_hold *b, *c;

	given_hold("fake:?ttl=1500ms&close=500ms");
	b = take(mutex(client, "b"));
	c = take(mutex(client, "c"));
	fake_always(fake, FAKE_RENEW, FAKE_SILENT);
	FAKE_SCRIPT(fake, FAKE_RELEASE, .fault = FAKE_REFUSE, .times = 2);
	fake_always(fake, FAKE_RELEASE, FAKE_SILENT);
	cr_assert_eq(dlock_release(b), DLOCK_EUNREACHABLE);
	cr_assert_eq(dlock_release(c), DLOCK_EUNREACHABLE);
	EVENTUALLY(fake_count(fake, FAKE_RENEW) == 1);
	close_client_within(500 + 250);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}

CASE(close, asks_for_nothing_to_be_released_where_nothing_is_left)
{
	given_mutex("fakeall:?ttl=60s");
	OK(dlock_release(take(lock)));
	close_client();
	cr_assert_eq(fake_count(fake, FAKE_RELEASE_ALL), 0);
}

/* The store does not answer. */
CASE(close, keeps_its_time_where_all_are_released_at_once)
{
	given_hold("fakeall:?ttl=60s&close=300ms");
	fake_once(fake, FAKE_RELEASE_ALL, FAKE_SILENT);
	close_client_within(300 + 200);
	cr_assert_eq(fake_count(fake, FAKE_RELEASE), 0);
	cr_assert_eq(dlock_release(hold), DLOCK_ELOST);
}
