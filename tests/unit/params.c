/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/params.h"
#include "core/base/error.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static const struct dlk_param own[] = {
	{ "port", DLK_NUMBER, "7", -5, 100, NULL, "A number." },
	{ "noisy", DLK_SWITCH, "off", 0, 0, NULL, "A switch." },
	{ "protocol", DLK_CHOICE, "auto", 0, 0, "auto|text|meta", "A choice." },
	{ "lose", DLK_DURATION, NULL, 5, 1000, NULL, "A duration." },
	{ "note", DLK_TEXT, "x", 1, 5, NULL, "A text." },
	{ 0 }
};

static struct dlk_values *values;
static struct dlk_uri uri; /* with the values */
static struct dlk_error err;

static void begin(void)
{
	cr_assert_eq(dlki_values_new(&values, own, &err), 0);
	uri.values = values;
}

static void end(void)
{
	dlki_values_free(values);
}

TestSuite(params, .init = begin, .fini = end);

static void expect_refused(const char *name, const char *text, const char *why)
{
	memset(&err, 0, sizeof(err));
	cr_expect_eq(dlki_values_set(values, name, text, &err), DLOCK_EINVAL,
		     "%s=%s", name, text);
	cr_expect_eq(err.code, DLOCK_EINVAL);
	cr_expect_str_eq(err.text, why);
}

static void expect_int(const char *name, const char *text, int64_t number)
{
	end();
	begin();
	cr_expect_eq(dlki_values_set(values, name, text, &err), 0, "%s=%s: %s",
		     name, text, err.text);
	cr_expect_eq(dlk_param_int(&uri, name), number, "%s=%s", name, text);
}

Test(params, the_common_ones_have_their_defaults)
{
	cr_expect_eq(dlk_param_int(&uri, "ttl"), 30000);
	cr_expect_eq(dlk_param_int(&uri, "connect"), 5000);
	cr_expect_eq(dlk_param_int(&uri, "ask"), 40);
	cr_expect_eq(dlk_param_int(&uri, "close"), 2000);
	cr_expect_eq(dlk_param_int(&uri, "max_hold"), 0);
	cr_expect_eq(dlk_param_int(&uri, "retry_min"), 10);
	cr_expect_eq(dlk_param_int(&uri, "retry_max"), 500);
	cr_expect_str_eq(dlk_param_text(&uri, "prefix"), "dlock");
	cr_expect_null(dlk_param_text(&uri, "label"));
	cr_expect_eq(dlki_values_check(&uri, &err), 0);
}

Test(params, the_common_table_obeys_its_own_rules)
{
	for (const struct dlk_param *p = dlki_common_params; p->name; p++) {
		int64_t number;

		cr_expect_not_null(p->text);
		cr_expect_not_null(dlki_param_type(p));
		if (p->def)
			cr_expect_eq(dlki_param_parse(p, p->def, &number, &err),
				     0, "%s", p->name);
	}
}

Test(params, own_defaults)
{
	cr_expect_eq(dlki_params_check(own, &err), 0);
	cr_expect_eq(dlk_param_int(&uri, "port"), 7);
	cr_expect_eq(dlk_param_int(&uri, "noisy"), 0);
	cr_expect_eq(dlk_param_int(&uri, "protocol"), 0);
	cr_expect_eq(dlk_param_int(&uri, "lose"), 0);
	cr_expect_str_eq(dlk_param_text(&uri, "note"), "x");
}

Test(params, every_type_is_read)
{
	expect_int("ttl", "10ms", 10);
	expect_int("ttl", "24h", 86400000);
	expect_int("close", "0", 0);
	expect_int("max_hold", "none", 0);
	expect_int("max_hold", "0", 0);
	expect_int("max_hold", "1h", 3600000);
	expect_int("lose", "none", 0);
	expect_int("port", "-5", -5);
	expect_int("port", "100", 100);
	expect_int("port", "0100", 100);
	expect_int("port", "-0", 0);
	expect_int("noisy", "on", 1);
	expect_int("noisy", "off", 0);
	expect_int("protocol", "auto", 0);
	expect_int("protocol", "text", 1);
	expect_int("protocol", "meta", 2);
	cr_expect_eq(dlki_values_set(values, "note", "12345", &err), 0);
	cr_expect_str_eq(dlk_param_text(&uri, "note"), "12345");
}

Test(params, durations_out_of_range)
{
	static const char *const bad[] = { "0",
					   "0s",
					   "9ms",
					   "25h",
					   "9223372036854775808ms",
					   "999999999999999999999999h" };
	char why[128];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(why, sizeof(why),
			 "parameter 'ttl': '%s' is not in the range 10ms to "
			 "24h",
			 bad[i]);
		expect_refused("ttl", bad[i], why);
	}
	expect_refused("lose", "4ms",
		       "parameter 'lose': '4ms' is not in the range 5ms to 1s");
	expect_refused("max_hold", "8761h",
		       "parameter 'max_hold': '8761h' is not in the range 0ms "
		       "to 8760h");
}

Test(params, what_is_not_of_its_type)
{
	expect_refused("ttl", "none",
		       "parameter 'ttl': 'none' is not a duration; write 30s, "
		       "250ms, 1.5m or 2h");
	expect_refused("port", "",
		       "parameter 'port': '' is not a whole number");
	expect_refused("port", "-",
		       "parameter 'port': '-' is not a whole number");
	expect_refused("port", "1.5",
		       "parameter 'port': '1.5' is not a whole number");
	expect_refused("port", "101",
		       "parameter 'port': '101' is not in the range -5 to 100");
	expect_refused("port", "-6",
		       "parameter 'port': '-6' is not in the range -5 to 100");
	expect_refused("port", "9223372036854775808",
		       "parameter 'port': '9223372036854775808' is not in the "
		       "range -5 to 100");
	expect_refused("port", "-99999999999999999999",
		       "parameter 'port': '-99999999999999999999' is not in "
		       "the range -5 to 100");
	expect_refused("noisy", "yes",
		       "parameter 'noisy': 'yes' is none of on|off");
	expect_refused("noisy", "", "parameter 'noisy': '' is none of on|off");
	expect_refused("protocol", "met",
		       "parameter 'protocol': 'met' is none of auto|text|meta");
	expect_refused("protocol", "text|meta",
		       "parameter 'protocol': 'text|meta' is none of "
		       "auto|text|meta");
}

Test(params, texts_are_measured_and_not_quoted)
{
	expect_refused("note", "",
		       "parameter 'note': a text of 0 bytes; it takes 1 to 5");
	expect_refused("note", "secret",
		       "parameter 'note': a text of 6 bytes; it takes 1 to 5");
}

Test(params, unknown_names_get_a_suggestion)
{
	expect_refused("tll", "30s",
		       "unknown parameter 'tll'; did you mean 'ttl'?");
	expect_refused("retrymax", "1s",
		       "unknown parameter 'retrymax'; did you mean "
		       "'retry_max'?");
	expect_refused("protcol", "auto",
		       "unknown parameter 'protcol'; did you mean 'protocol'?");
	expect_refused(
		"colour", "red",
		"unknown parameter 'colour'; there are ttl, connect, "
		"ask, close, prefix, max_hold, keep, passes, release, label, "
		"retry_min, retry_max, port, noisy, protocol, lose, note");
}

Test(params, a_long_list_of_known_names_ends_between_two)
{
	static const struct dlk_param many[] = {
		{ "parameter_of_thirty_bytes_aaaa", DLK_SWITCH, NULL, 0, 0,
		  NULL, "" },
		{ "parameter_of_thirty_bytes_bbbb", DLK_SWITCH, NULL, 0, 0,
		  NULL, "" },
		{ "parameter_of_thirty_bytes_cccc", DLK_SWITCH, NULL, 0, 0,
		  NULL, "" },
		{ "parameter_of_thirty_bytes_dddd", DLK_SWITCH, NULL, 0, 0,
		  NULL, "" },
		{ 0 }
	};
	struct dlk_values *v;
	size_t len;

	cr_assert_eq(dlki_values_new(&v, many, &err), 0);
	cr_expect_eq(dlki_values_set(v, "x", "", &err), DLOCK_EINVAL);
	len = strlen(err.text);
	cr_expect_str_eq(err.text + len - 4, "bbbb");
	dlki_values_free(v);
}

Test(params, twice_is_once_too_often)
{
	cr_assert_eq(dlki_values_set(values, "label", "a", &err), 0);
	expect_refused("label", "b", "parameter 'label' is given twice");
	cr_expect_str_eq(dlk_param_text(&uri, "label"), "a");
}

Test(params, prefixes_are_safe_as_parts_of_keys_and_files)
{
	static const char *const bad[] = { ".",        "..",  ".hidden",
					   "a/b",      "a b", "a:b",
					   "\xc3\xa4", "*",   "a\\b" };
	static const char *const good[] = { "a", "A-z_0.9", "-", "a.", "a..b" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(dlki_values_set(values, "prefix", bad[i], &err),
			     0);
		cr_expect_eq(dlki_values_check(&uri, &err), DLOCK_EINVAL, "%s",
			     bad[i]);
		cr_expect_str_eq(err.text, "parameter 'prefix': only A-Z a-z "
					   "0-9 . _ - and no '.' in front");
		end();
		begin();
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert_eq(dlki_values_set(values, "prefix", good[i], &err),
			     0);
		cr_expect_eq(dlki_values_check(&uri, &err), 0, "%s", good[i]);
		end();
		begin();
	}
	expect_refused("prefix", "",
		       "parameter 'prefix': a text of 0 bytes; it takes 1 to "
		       "64");
}

Test(params, retry_min_is_not_above_retry_max)
{
	cr_assert_eq(dlki_values_set(values, "retry_min", "1s", &err), 0);
	cr_expect_eq(dlki_values_check(&uri, &err), DLOCK_EINVAL);
	cr_expect_str_eq(err.text, "parameter 'retry_min' is 1s, above "
				   "retry_max, which is 500ms");
	cr_assert_eq(dlki_values_set(values, "retry_max", "1s", &err), 0);
	cr_expect_eq(dlki_values_check(&uri, &err), 0);
}

Test(params, a_backend_reads_them_by_uri)
{
	cr_expect_eq(dlk_param_int(&uri, "ttl"), 30000);
	cr_expect_str_eq(dlk_param_text(&uri, "prefix"), "dlock");
	cr_expect_not(dlk_param_given(&uri, "ttl"));
	cr_assert_eq(dlki_values_set(values, "ttl", "30s", &err), 0);
	cr_expect(dlk_param_given(&uri, "ttl"));
	cr_expect(dlki_values_know(values, "note"));
	cr_expect_not(dlki_values_know(values, "notes"));
}

#ifndef NDEBUG
/* A build that measures coverage would not count a process ended by abort(). */
extern void __gcov_dump(void) __attribute__((weak));

static void keep_coverage(int sig)
{
	if (__gcov_dump)
		__gcov_dump();
	signal(sig, SIG_DFL);
}

/* The gate takes the text of an assertion for a failure of the library. */
static void expect_abort(void)
{
	signal(SIGABRT, keep_coverage);
	cr_assert_not_null(freopen("/dev/null", "w", stderr));
}

#define ASSERTED(name, call)                                                   \
	Test(params, name, .init = expect_abort, .signal = SIGABRT)            \
	{                                                                      \
		(void)call;                                                    \
	}

ASSERTED(an_unlisted_number_is_asserted, dlk_param_int(&uri, "nothing"))
ASSERTED(a_text_as_a_number_is_asserted, dlk_param_int(&uri, "prefix"))
ASSERTED(an_unlisted_text_is_asserted, dlk_param_text(&uri, "nothing"))
ASSERTED(a_number_as_a_text_is_asserted, dlk_param_text(&uri, "ttl"))
ASSERTED(an_unlisted_presence_is_asserted, dlk_param_given(&uri, "nothing"))
#endif

Test(params, freeing_nothing)
{
	dlki_values_free(NULL);
}
