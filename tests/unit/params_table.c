/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of parameters from backends. */
#include "core/base/error.h"
#include "core/uri/params.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct dlk_error err;

Test(params_table, types_and_ranges_for_people)
{
	static const struct {
		struct dlk_param p;
		const char *type, *range;
	} cases[] = {
		{ { "a", DLK_DURATION, "1s", 10, 86400000, NULL, "" },
		  "duration",
		  "10ms to 24h" },
		{ { "a", DLK_NUMBER, "1", -1, 100, NULL, "" },
		  "number",
		  "-1 to 100" },
		{ { "a", DLK_SWITCH, "on", 0, 0, NULL, "" },
		  "switch",
		  "on|off" },
		{ { "a", DLK_CHOICE, "x", 0, 0, "x|y", "" }, "choice", "x|y" },
		{ { "a", DLK_TEXT, NULL, 1, 5, NULL, "" }, "text", "" },
	};
	char range[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_str_eq(dlki_param_type(&cases[i].p), cases[i].type);
		dlki_param_range(&cases[i].p, range, sizeof(range));
		cr_expect_str_eq(range, cases[i].range);
	}
}

static void expect_table(struct dlk_param p, const char *why)
{
	struct dlk_param table[] = {
		{ "first", DLK_NUMBER, "1", 0, 5, NULL, "A number." }, p, { 0 }
	};
	int rc;

	memset(&err, 0, sizeof(err));
	rc = dlki_params_check(table, &err);
	cr_expect_eq(rc, why ? DLOCK_EINVAL : 0, "%s", err.text);
	cr_expect_str_eq(err.text, why ? why : "");
}

static struct dlk_param number(const char *name, const char *def, int64_t min,
			       int64_t max)
{
	return (struct dlk_param){ name, DLK_NUMBER, def, min, max, NULL, "T" };
}

Test(params_table, tables_that_can_be_served)
{
	cr_expect_eq(dlki_params_check(NULL, &err), 0);
	expect_table(number("n", NULL, 3, 3), NULL);
	expect_table(number("n", "-3", -INT64_MAX + 1, INT64_MAX - 1), NULL);
	expect_table((struct dlk_param){ "password_file", DLK_TEXT, NULL, 1,
					 4000, NULL, "T" },
		     NULL);
	expect_table((struct dlk_param){ "c", DLK_CHOICE, NULL, 0, 0, "one",
					 "T" },
		     NULL);
}

Test(params_table, names_that_cannot_be_served)
{
	static const char bad[] = "a name is 1 to 31 of a-z and '_'";
	static const char *const names[] = {
		"",   "Ttl", "a b",
		"a1", "a-b", "abcdefghijklmnopqrstuvwxyzabcdef"
	};
	char why[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(why, sizeof(why), "parameter '%s': %s", names[i], bad);
		expect_table(number(names[i], "1", 0, 5), why);
	}
	expect_table(number("ttl", "1", 0, 5),
		     "parameter 'ttl': every scheme has a parameter of this "
		     "name");
	expect_table(number("first", "1", 0, 5),
		     "parameter 'first': it is listed twice");
}

Test(params_table, tables_that_cannot_be_served)
{
	static const char *const choices[] = {
		NULL, "", "|", "a|", "|a", "a||b"
	};

	expect_table(number("n", "1", 5, 4),
		     "parameter 'n': its range is empty or too large");
	expect_table(number("n", "1", INT64_MIN, 5),
		     "parameter 'n': its range is empty or too large");
	expect_table(number("n", "1", -INT64_MAX, 5),
		     "parameter 'n': its range is empty or too large");
	expect_table(number("n", "1", 0, INT64_MAX),
		     "parameter 'n': its range is empty or too large");
	expect_table(number("n", "9", 0, 5), "default of parameter 'n': '9' is "
					     "not in the range 0 to 5");
	expect_table((struct dlk_param){ "d", DLK_DURATION, NULL, -1, 5, NULL,
					 "T" },
		     "parameter 'd': its range is empty or too large");
	expect_table((struct dlk_param){ "t", DLK_TEXT, NULL, -1, 5, NULL,
					 "T" },
		     "parameter 't': its range is empty or too large");
	expect_table((struct dlk_param){ "t", (enum dlk_param_type)99, NULL, 0,
					 5, NULL, "T" },
		     "parameter 't': there is no such type");
	expect_table((struct dlk_param){ "t", DLK_NUMBER, NULL, 0, 5, NULL,
					 NULL },
		     "parameter 't': it has no text");
	expect_table((struct dlk_param){ "password_file", DLK_SWITCH, NULL, 0,
					 5, NULL, "T" },
		     "parameter 'password_file': it must be a text");
	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		expect_table((struct dlk_param){ "c", DLK_CHOICE, NULL, 0, 0,
						 choices[i], "T" },
			     "parameter 'c': its choices are not of the form "
			     "a|b|c");
}

Test(params_table, a_default_that_does_not_parse_makes_no_values)
{
	static const struct dlk_param broken[] = {
		{ "n", DLK_NUMBER, "many", 0, 5, NULL, "T" }, { 0 }
	};
	struct dlk_values *v = NULL;

	cr_expect_eq(dlki_values_new(&v, broken, &err), DLOCK_EINVAL);
	cr_expect_null(v);
}
