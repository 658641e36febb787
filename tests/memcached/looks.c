/* SPDX-License-Identifier: Apache-2.0 */
/* Waiters look soon at first, then with a backoff.  The cases count looks and
 * judge no time. */
#include "support.h"

#include "backends/memcached/protocol/looks.h"

enum {
	LEAST_MS = 20, /* begins the default range */
	SOON_MS = 50,
	EARLY = 5, /* 1, 2, 4, 8, 16 */
	WAITERS = 8,
	BUDGET = 160 /* a second, of so many waiters */
};

/* Each attempt is a request to store an item. */
static uint64_t looks_of(const struct scene *s)
{
	return stat_of(s, "STAT cmd_set ");
}

Test(memcached_looks, double_from_a_millisecond_on)
{
	static const char digits[] = "0123456789abcdef";

	CHECK_INT(dlki_memc_looks_early(1), ==, 0);
	CHECK_INT(dlki_memc_looks_early(2), ==, 1);
	CHECK_INT(dlki_memc_looks_early(16), ==, 4);
	CHECK_INT(dlki_memc_looks_early(LEAST_MS), ==, EARLY);
	CHECK_INT(dlki_memc_looks_early(12000), ==, 14);
	for (int i = 0; i < 14; i++) {
		int64_t about = DLK_MS * (INT64_C(1) << i), last = 0, sum = 0;

		for (int j = 0; j < 16; j++) {
			int64_t pause = dlki_memc_looks_pause(i, digits[j]);

			CHECK_INT(pause, >, last);
			CHECK_INT(pause, >=, about / 2);
			CHECK_INT(pause, <=, about / 2 * 3);
			last = pause;
			sum += pause;
		}
		CHECK_INT(sum / 16, ==, about);
	}
}

/* Each waiter has another client. */
EITHER_WAY(memcached_looks, of_many_waiters_keep_to_the_budget)
{
	dlock_hold *h = take(mutex(direct(&s, ""), "x"));
	dlock_lock *l[WAITERS];
	struct taker w[WAITERS] = { 0 };
	uint64_t before;
	int64_t begun;

	for (int i = 0; i < WAITERS; i++)
		l[i] = mutex(direct(&s, ""), "x");
	before = looks_of(&s);
	begun = now_ms();
	for (int i = 0; i < WAITERS; i++)
		taker_start(&w[i], l[i], 2000);
	for (int i = 0; i < WAITERS; i++)
		CHECK_RC(taker_join(&w[i]), DLOCK_EBUSY);
	CHECK_INT(looks_of(&s) - before, <=,
		  BUDGET * (now_ms() - begun) / 1000 + WAITERS * (EARLY + 2));
	give(h);
}

/* Behind a waiter of the same client, each waiter asks twice: at the beginning
 * and at the end. */
EITHER_WAY(memcached_looks, of_one_client_are_not_all_early)
{
	dlock_hold *h = take(mutex(direct(&s, ""), "x"));
	dlock_client *c = direct(&s, "");
	dlock_lock *l = mutex(c, "x");
	struct taker w = { 0 };
	uint64_t before;
	int64_t begun;

	taker_start(&w, l, -1);
	EVENTUALLY(stats(c).attempts > EARLY);
	before = looks_of(&s);
	begun = now_ms();
	for (int i = 0; i < WAITERS; i++)
		ask(l, SOON_MS, DLOCK_EBUSY);
	CHECK_INT(looks_of(&s) - before, <=,
		  2 * WAITERS + 1 + (now_ms() - begun) / LEAST_MS);
	give(h);
	CHECK_OK(taker_join(&w));
}
