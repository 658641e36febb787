/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/params.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

Test(duration, what_is_accepted)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{ "250ms", 250 },
		{ "30", 30000 },
		{ "1.5", 1500 },
		{ "0.5", 500 },
		{ "30s", 30000 },
		{ "2m", 120000 },
		{ "1h", 3600000 },
		{ "0", 0 },
		{ "0.0", 0 },
		{ "0s", 0 },
		{ "1.5s", 1500 },
		{ "0.25h", 900000 },
		{ "0.001s", 1 },
		{ "1.000ms", 1 },
		{ "0.3333h", 1199880 },
		{ "1.0000000000000000000000s", 1000 },
		{ "007s", 7000 },
		{ "9223372036854775807ms", INT64_MAX },
		{ "9223372036854775808ms", INT64_MAX },
		{ "9223372036854775806.999s", INT64_MAX },
		{ "9223372036854775807s", INT64_MAX },
		{ "9223372036854775.807s", INT64_MAX },
		{ "9223372036854775.808s", INT64_MAX },
		{ "99999999999999999999999999999h", INT64_MAX },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t ms = -1;
		struct dlk_error err = { 0 };

		cr_expect_eq(dlki_duration_parse(cases[i].text, &ms, &err), 0,
			     "%s: %s", cases[i].text, err.text);
		cr_expect_eq(ms, cases[i].ms, "%s: %" PRId64, cases[i].text,
			     ms);
	}
}

Test(duration, what_is_refused_and_why)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "1.0005", "'1.0005' is finer than a millisecond" },
		{ "1e300", "'1e300' has the unknown unit 'e300'; use ms, s, m "
			   "or h" },
		{ "5us", "'5us' has the unknown unit 'us'; use ms, s, m or h" },
		{ "5 s", "'5 s' has the unknown unit ' s'; use ms, s, m or h" },
		{ "5S", "'5S' has the unknown unit 'S'; use ms, s, m or h" },
		{ "1m30s", "'1m30s' has the unknown unit 'm30s'; use ms, s, m "
			   "or h" },
		{ "1.5.5s", "'1.5.5s' has the unknown unit '.5s'; use ms, s, m "
			    "or h" },
		{ "0.5ms", "'0.5ms' is finer than a millisecond" },
		{ "1.0005s", "'1.0005s' is finer than a millisecond" },
		{ "1.0000000001h", "'1.0000000001h' is finer than a "
				   "millisecond" },
	};
	static const char *const not_durations[] = {
		"",    "s",   "-5s",   "+5s", ".5s",  "5.s",      "none",
		"inf", "nan", "0x10s", " 5s", "1,5s", "\xd9\xa3s"
	};
	struct dlk_error err;
	int64_t ms;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(dlki_duration_parse(cases[i].text, &ms, &err),
			     DLOCK_EINVAL, "%s", cases[i].text);
		cr_expect_str_eq(err.text, cases[i].why);
	}
	for (size_t i = 0; i < sizeof(not_durations) / sizeof(char *); i++) {
		cr_expect_eq(dlki_duration_parse(not_durations[i], &ms, &err),
			     DLOCK_EINVAL, "%s", not_durations[i]);
	}
	cr_expect_eq(dlki_duration_parse("", &ms, &err), DLOCK_EINVAL);
	cr_expect_str_eq(err.text, "'' is not a duration; write 30s, 250ms, "
				   "1.5m or 2h");
}

Test(duration, is_written_in_the_largest_unit_that_divides)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = {
		{ 0, "0ms" },        { 1, "1ms" },
		{ 999, "999ms" },    { 1000, "1s" },
		{ 1500, "1500ms" },  { 60000, "1m" },
		{ 90000, "90s" },    { 3600000, "1h" },
		{ 86400000, "24h" }, { 5400000, "90m" },
		{ -2000, "-2s" },    { INT64_MAX, "9223372036854775807ms" },
	};
	char out[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		dlki_duration_text(cases[i].ms, out, sizeof(out));
		cr_expect_str_eq(out, cases[i].text);
	}
	dlki_duration_text(86400000, out, 3);
	cr_expect_str_eq(out, "24");
}

Test(duration, what_is_written_is_read_again)
{
	for (int64_t ms = 0; ms < INT64_C(1) << 60; ms = ms * 3 / 2 + 1) {
		char text[32];
		int64_t again = -1;

		dlki_duration_text(ms, text, sizeof(text));
		cr_assert_eq(dlki_duration_parse(text, &again, NULL), 0);
		cr_assert_eq(again, ms);
	}
}
