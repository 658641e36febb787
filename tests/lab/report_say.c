/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and times as people read them. */
#include "lab/report/impl.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char text[LAB_SHORT];

Test(report_say, numbers)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 0.0004, "0" },
		{ -0.0004, "0" },
		{ 0.5, "0.5" },
		{ 0.9999, "1" },
		{ 1.005, "1" },
		{ -1.25, "-1.25" },
		{ 9.04, "9.04" },
		{ 21.44, "21.4" },
		{ 123.6, "124" },
		{ 1234567, "1234567" },
		{ 1e300, "> 10^15" },
		{ -1e300, "< -10^15" },
		{ NAN, "–" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		cr_expect_str_eq(lab_say_number(text, cases[i].value),
				 cases[i].text);
}

Test(report_say, times)
{
	cr_expect_str_eq(lab_say_ms(text, 41), "41 ms");
	cr_expect_str_eq(lab_say_ms(text, -350), "-350 ms");
	cr_expect_str_eq(lab_say_ms(text, 2443), "2.44 s");
	cr_expect_str_eq(lab_say_ms(text, -1500), "-1.5 s");
	cr_expect_str_eq(lab_say_ms(text, 161234), "2 min 41 s");
	cr_expect_str_eq(lab_say_ms(text, NAN), "–");
	cr_expect_str_eq(lab_say_value(text, 21, "us"), "21 µs");
	cr_expect_str_eq(lab_say_value(text, 2100, "us"), "2.1 ms");
	cr_expect_str_eq(lab_say_value(text, 7, "1/s"), "7 1/s");
	cr_expect_str_eq(lab_say_value(text, 7, ""), "7");
	cr_expect_str_eq(lab_say_value(text, NAN, "us"), "–");
}

Test(report_say, what_is_too_long_is_cut_between_characters)
{
	char whole[400] = "";

	cr_expect_str_eq(lab_say_short(text, "memcached", 9), "memcached");
	cr_expect_str_eq(lab_say_short(text, "memcached", 8), "memcach…");
	cr_expect_str_eq(lab_say_short(text, "", 8), "");
	cr_expect_str_eq(lab_say_short(text, "ααααα", 5), "ααααα");
	cr_expect_str_eq(lab_say_short(text, "ααααα", 4), "ααα…");
	for (size_t i = 0; i < 90; i++)
		strcat(whole, "€");
	lab_say_short(text, whole, 80);
	cr_expect_lt(strlen(text), sizeof(text));
	cr_expect_str_eq(text + strlen(text) - 6, "€…");
}

Test(report_say, ticks_are_few_and_round)
{
	for (double span = 0.001; span < 1e9; span *= 1.37) {
		double n = span / lab_tick_step(span);

		cr_expect(n <= 6 && n >= 1.9, "%g: %g", span, n);
	}
	cr_expect_eq(lab_tick_step(600), 100);
	cr_expect_eq(lab_tick_step(2400), 500);
	cr_expect_gt(lab_tick_step(NAN), 0);
	cr_expect_gt(lab_tick_step(0), 0);
}

Test(report_say, integers_are_whole_and_positions_are_tenths)
{
	char *put = NULL;
	size_t n;
	struct lab_sheet s = { .out = open_memstream(&put, &n) };

	cr_assert(s.out);
	lab_put(&s, "%f %f %f %f %f %f|%d %zu %jd %ju%%", 12.34, 2.0, -0.04,
		-7.25, (double)NAN, 1e300, -3, (size_t)4, INTMAX_MIN,
		UINTMAX_MAX);
	cr_expect_eq(lab_sheet_end(&s), 0);
	cr_expect_str_eq(put, "12.3 2 0 -7.3 0 0|-3 4 -9223372036854775808 "
			      "18446744073709551615%");
	fclose(s.out);
	free(put);
}
