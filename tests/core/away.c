/* SPDX-License-Identifier: Apache-2.0 */
/* A store away is logged at the loss of contact, and at the return. */
#include "core/fixture.h"

TestSuite(away, .init = fixture, .timeout = 60);

#define GONE "1 the store does not answer: fake: "
#define BACK "1 the store answers again, after "

CASE(away, is_told_once_by_many_attempts)
{
	keep_diary();
	given_mutex("fake:?ttl=5s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_REFUSE, .times = 4);
	hold = take_within(lock, 10000);
	cr_assert_eq(fake_count(fake, FAKE_ATTEMPT), 5);
	cr_assert_eq(diary_times(&diary, GONE), 1, "%s", diary.log);
	cr_assert_eq(diary_times(&diary, BACK), 1, "%s", diary.log);
	OK(dlock_release(hold));
	cr_assert_eq(diary_times(&diary, "the store"), 2, "%s", diary.log);
}

CASE(away, is_told_once_by_many_renewals)
{
	keep_diary();
	given_hold("fake:?ttl=2s");
	FAKE_SCRIPT(fake, FAKE_RENEW, .fault = FAKE_REFUSE, .times = 3);
	EVENTUALLY(diary_times(&diary, BACK) == 1);
	cr_assert_eq(diary_times(&diary, GONE), 1, "%s", diary.log);
	cr_assert_eq(fake_count(fake, FAKE_RENEW), 4);
	OK(dlock_release(hold));
}

/* A store that refuses has answered. */
CASE(away, is_not_what_refuses)
{
	dlock_hold *none;

	keep_diary();
	given_mutex("fake:?ttl=5s");
	FAKE_SCRIPT(fake, FAKE_ATTEMPT, .fault = FAKE_CODE,
		    .code = DLOCK_EDENIED);
	cr_assert_eq(dlock_acquire(lock, 0, &none), DLOCK_EDENIED);
	fake_occupy(fake, DLK_LOCK, "a", 0);
	cr_assert_eq(dlock_acquire(lock, 0, &none), DLOCK_EBUSY);
	cr_assert_eq(diary_times(&diary, "the store"), 0, "%s", diary.log);
}
