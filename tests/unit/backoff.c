/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/backoff.h"
#include "core/base/clock.h"

#include <criterion/criterion.h>

static struct dlki_backoff b;

#define ROUNDS 20000

Test(backoff, each_pause_lies_between_the_least_and_three_times_the_last)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		int64_t last = 10 * DLK_MS;

		dlki_backoff_init(&b, 10, 500, seed);
		for (int i = 0; i < 400; i++) {
			int64_t pause = dlki_backoff_next(&b);

			cr_assert_geq(pause, 10 * DLK_MS);
			cr_assert_leq(pause, 500 * DLK_MS);
			cr_assert_leq(pause, 3 * last);
			last = pause;
		}
	}
}

/* The pauses reach a tenth of the range at either end. */
Test(backoff, pauses_spread_over_the_range)
{
	int64_t least = INT64_MAX, most = 0, sum = 0;

	dlki_backoff_init(&b, 10, 500, 0);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t pause = dlki_backoff_next(&b);

		least = pause < least ? pause : least;
		most = pause > most ? pause : most;
		sum += pause;
	}
	cr_expect_lt(least, 12 * DLK_MS);
	cr_expect_gt(most, 480 * DLK_MS);
	cr_expect_gt(sum / ROUNDS, 100 * DLK_MS);
	cr_expect_lt(sum / ROUNDS, 400 * DLK_MS);
}

Test(backoff, different_seeds_do_not_keep_step)
{
	struct dlki_backoff a, b;
	int same = 0;

	dlki_backoff_init(&a, 10, 500, 1);
	dlki_backoff_init(&b, 10, 500, 2);
	for (int i = 0; i < 1000; i++)
		same += dlki_backoff_next(&a) == dlki_backoff_next(&b);
	cr_expect_lt(same, 10);
}

Test(backoff, a_range_of_one_value_is_that_value)
{
	dlki_backoff_init(&b, 20, 20, 3);
	for (int i = 0; i < 10; i++)
		cr_expect_eq(dlki_backoff_next(&b), 20 * DLK_MS);
}

Test(backoff, enormous_ranges_do_not_overflow)
{
	dlki_backoff_init(&b, 1, INT64_MAX, 9);
	for (int i = 0; i < 1000; i++)
		cr_assert_geq(dlki_backoff_next(&b), DLK_MS);
}
