/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ask.h"

#include <criterion/criterion.h>

static struct dlki_roundtrip r;

static double wait_ms(const struct dlki_roundtrip *r)
{
	return (double)dlki_roundtrip_wait_ns(r) / DLK_MS;
}

static void hear(struct dlki_roundtrip *r, int64_t ms, int times)
{
	while (times-- > 0)
		dlki_roundtrip_heard(r, ms * DLK_MS);
}

Test(roundtrip, that_is_short_is_never_less_than_the_least)
{
	cr_expect_float_eq(wait_ms(&r), 40, 0.001);
	hear(&r, 0, 100);
	cr_expect_float_eq(wait_ms(&r), 40, 0.001);
	hear(&r, 5, 100);
	cr_expect_float_eq(wait_ms(&r), 40, 0.001);
}

/* An attempt may have to connect, and wait for the greeting, before the
 * request. */
Test(roundtrip, that_is_steady_is_waited_for_five_times)
{
	for (int i = 0; i < 100; i++) {
		hear(&r, 60, 1);
		cr_expect_geq(wait_ms(&r), 299.9);
		cr_expect_leq(wait_ms(&r), 420.1);
	}
	cr_expect_leq(wait_ms(&r), 300.1);
}

/* Smoothed by an eighth, and the variation by a quarter: 50 + 50/8 and
 * 25 + (50 - 25)/4. The wait has four variations. */
Test(roundtrip, that_varies_is_waited_for_as_rfc_6298_says)
{
	hear(&r, 50, 1);
	hear(&r, 100, 1);
	cr_expect_float_eq((double)r.smoothed_ns / DLK_MS, 56.25, 0.01);
	cr_expect_float_eq((double)r.variation_ns / DLK_MS, 31.25, 0.01);
	for (int i = 0; i < 50; i++) {
		hear(&r, 10, 1);
		hear(&r, 110, 1);
	}
	cr_expect_gt(r.variation_ns, 40 * DLK_MS);
	cr_expect_eq(dlki_roundtrip_wait_ns(&r),
		     5 * r.smoothed_ns + 4 * r.variation_ns);
}

Test(roundtrip, that_changes_is_followed_both_ways)
{
	hear(&r, 5, 20);
	hear(&r, 100, 3);
	cr_expect_gt(wait_ms(&r), 200);
	hear(&r, 5, 60);
	cr_expect_float_eq(wait_ms(&r), 40, 0.001);
}

/* A server stopped for a minute is not as far away. */
Test(roundtrip, is_never_waited_for_beyond_a_second)
{
	hear(&r, 60000, 3);
	cr_expect_float_eq(wait_ms(&r), 1000, 0.001);
	hear(&r, INT64_MAX / DLK_MS, 3);
	cr_expect_float_eq(wait_ms(&r), 1000, 0.001);
	hear(&r, 1, 60);
	cr_expect_float_eq(wait_ms(&r), 40, 0.001);
}

/* A clock could go back. */
Test(roundtrip, that_ends_before_it_begins_is_short)
{
	hear(&r, -1000, 3);
	cr_expect_float_eq(wait_ms(&r), 40, 0.001);
	cr_expect_gt(r.smoothed_ns, 0);
}
