/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often waiters look: soon at first, then as seldom as the backoff says.
 * Looks are counted, and none of these tests judges time: what looks seldom
 * does so on a busy machine as well, and what looks often has several tries.
 */
#include "support.h"

#include "backends/memcached/protocol/looks.h"

enum {
	LEAST_MS = 20, /* the default range, from here ... */
	SOON_MS = 50,
	EARLY = 5, /* 1, 2, 4, 8, 16 */
	WAITERS = 8,
	BUDGET = 160 /* a second, of so many waiters */
};

/* Each attempt is a request to store something. */
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

/* What a wait of SOON_MS asks, its first and its last attempt included. */
static uint64_t looks_soon(const struct scene *s, dlock_lock *l)
{
	uint64_t before = looks_of(s);

	ask(l, SOON_MS, DLOCK_EBUSY);
	return looks_of(s) - before;
}

/* After the early ones, two of the backoff may follow. */
EITHER_WAY(memcached_looks, come_soon_at_first)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_hold *h = take(mutex(direct(&s, ""), "x"));
	uint64_t n = 0;

	for (int i = 0; i < 20 && n < EARLY + 2; i++) {
		n = looks_soon(&s, mutex(direct(&s, ""), "x"));
		CHECK_INT(n, <=, EARLY + 4);
	}
	CHECK_INT(n, >=, EARLY + 2);
	give(h);
	scene_end(&s);
}

EITHER_WAY(memcached_looks, keep_to_a_range_that_is_given)
{
	static const char *const ranges[] = { "retry_min=20ms",
					      "retry_max=100ms",
					      "retry_min=20ms&retry_max=40ms",
					      "retry_min=20ms&poll=40ms" };
	struct scene s = scene_new(protocol, NULL);
	dlock_hold *h = take(mutex(direct(&s, ""), "x"));

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		CHECK_INT(looks_soon(&s, mutex(direct(&s, ranges[i]), "x")), <=,
			  2 + SOON_MS / LEAST_MS);
	give(h);
	scene_end(&s);
}

/* Clients of their own, which know nothing of each other. */
EITHER_WAY(memcached_looks, of_many_waiters_keep_to_the_budget)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_hold *h = take(mutex(direct(&s, ""), "x"));
	dlock_lock *l[WAITERS];
	struct waiter w[WAITERS];
	uint64_t before;
	int64_t begun;

	for (int i = 0; i < WAITERS; i++)
		l[i] = mutex(direct(&s, ""), "x");
	before = looks_of(&s);
	begun = now_ms();
	for (int i = 0; i < WAITERS; i++)
		waiter_start(&w[i], l[i], 2000);
	for (int i = 0; i < WAITERS; i++)
		CHECK_RC(waiter_join(&w[i]), DLOCK_EBUSY);
	CHECK_INT(looks_of(&s) - before, <=,
		  BUDGET * (now_ms() - begun) / 1000 + WAITERS * (EARLY + 2));
	give(h);
	scene_end(&s);
}

/* Waiters that come while another one of their client waits: each asks when it
 * comes and when it gives up. */
EITHER_WAY(memcached_looks, of_one_client_are_not_all_early)
{
	struct scene s = scene_new(protocol, NULL);
	dlock_hold *h = take(mutex(direct(&s, ""), "x"));
	dlock_client *c = direct(&s, "");
	dlock_lock *l = mutex(c, "x");
	struct waiter w;
	uint64_t before;
	int64_t begun;

	waiter_start(&w, l, -1);
	EVENTUALLY(attempts_of(c) > EARLY);
	before = looks_of(&s);
	begun = now_ms();
	for (int i = 0; i < WAITERS; i++)
		ask(l, SOON_MS, DLOCK_EBUSY);
	CHECK_INT(looks_of(&s) - before, <=,
		  2 * WAITERS + 1 + (now_ms() - begun) / LEAST_MS);
	give(h);
	CHECK_OK(waiter_join(&w));
	scene_end(&s);
}
