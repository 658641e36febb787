/* SPDX-License-Identifier: Apache-2.0 */
/* The time for an answer follows the round trips of the store. */
#include "core/fixture.h"
#include "support/cancel.h"

#include <stdio.h>

TestSuite(distance, .init = timed_fixture, .timeout = 60);

/* Delays the store's answers. */
static void is_away(int64_t ms)
{
	struct fake_step away = { .delay_ms = ms, .times = FAKE_ALWAYS };

	fake_script(fake, FAKE_OPEN, away);
	fake_script(fake, FAKE_ATTEMPT, away);
	fake_script(fake, FAKE_RELEASE, away);
}

/* Returns the time of the last attempt: an upper bound, as stalls shorten the
 * time. */
static int64_t had_ms(void)
{
	struct fake_call call = fake_last(fake, FAKE_ATTEMPT);

	return (call.deadline - call.begin + DLK_MS / 2) / DLK_MS;
}

/* Counts from the begin of the call: a lower bound. */
static int64_t was_given_ms(dlk_time begun)
{
	return (fake_last(fake, FAKE_ATTEMPT).deadline - begun) / DLK_MS;
}

/* The clean-up of a failed try has more time, and the answer shows the new
 * distance. */
CASE(distance, that_grows_is_found_by_a_clean_up)
{
	int rc = DLOCK_EUNREACHABLE;
	int tries = 0;

	given_mutex("fake:?far=on&ttl=5s");
	OK(dlock_acquire(lock, 0, &hold));
	OK(dlock_release(hold));
	is_away(150);
	while (rc == DLOCK_EUNREACHABLE && tries < 10) {
		rc = dlock_acquire(lock, 0, &hold);
		tries++;
	}
	OK(rc);
	cr_assert_geq(tries, 2, "%d", tries);
	cr_assert_leq(had_ms(), 1000);
	fake_clear(fake);
	OK(dlock_release(hold));
}

/* A call to a silent store takes no longer than the call before. */
CASE(distance, of_a_silent_store_is_no_distance)
{
	given_mutex("fake:?far=on");
	OK(dlock_acquire(lock, 0, &hold));
	OK(dlock_release(hold));
	fake_always(fake, FAKE_RELEASE, FAKE_SILENT);
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	for (int i = 0; i < 6; i++) {
		cr_assert_eq(dlock_acquire(lock, i % 2 ? 0 : 100, &hold),
			     DLOCK_EUNREACHABLE);
		cr_assert_leq(had_ms(), i % 2 ? 40 : 140);
	}
	fake_clear(fake);
}

/* Checks that each try has the same time. */
static void tries_have(int64_t ms)
{
	char text[64];

	snprintf(text, sizeof(text), "had %d ms: ask= in the URI gives it more",
		 (int)ms);
	for (int i = 0; i < 4; i++) {
		dlk_time begun = dlk_now();

		REFUSED(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE,
			text);
		cr_assert_leq(had_ms(), ms);
		cr_assert_geq(was_given_ms(begun), ms);
	}
	fake_clear(fake);
}

CASE(distance, that_the_uri_gives_stays)
{
	is_away(150);
	given_mutex("fake:?far=on&ask=50ms");
	tries_have(50);
}

/* The backend does not tell the core of round trips. */
CASE(distance, that_is_not_told_is_40_ms)
{
	given_mutex("fake:");
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	tries_have(40);
}

/* The message is about the request that had time, not about a last request
 * without. */
CASE(distance, is_told_of_the_request_that_was_waited_for)
{
	given_mutex("fake:");
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	REFUSED(dlock_acquire(lock, 100, &hold), DLOCK_EUNREACHABLE,
		"(scripted); the request had 140 ms: ask= in the URI gives it");
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 1);
	fake_clear(fake);
}

/* More time would not help. */
CASE(distance, is_not_blamed_for_a_refusal)
{
	given_mutex("fake:?far=on");
	fake_always(fake, FAKE_ATTEMPT, FAKE_REFUSE);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(dlock_acquire(lock, 0, &hold), DLOCK_EUNREACHABLE);
		cr_assert_null(strstr(dlock_errmsg(), "ask="), "%s",
			       dlock_errmsg());
		cr_assert_leq(had_ms(), 40);
	}
	fake_clear(fake);
}

/* A cancelled wait gives a request on the way as long. */
CASE(distance, is_what_a_cancelled_wait_waits_for)
{
	is_away(150);
	given_mutex("fake:?far=on");
	fake_clear(fake);
	fake_always(fake, FAKE_ATTEMPT, FAKE_SILENT);
	cr_assert_geq(cancel_wait_ms(client, lock), 590);
	fake_clear(fake);
}
