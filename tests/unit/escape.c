/* SPDX-License-Identifier: Apache-2.0 */
#include "core/uri/escape.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static char buffer[1024];
static struct dlk_error err;

static int decode(const char *text)
{
	char *room = buffer;
	int rc = dlki_unescape(&room, text, strlen(text), "thing", &err);

	cr_expect_eq(room == buffer, rc < 0);
	if (rc == 0)
		cr_expect_eq(room, buffer + strlen(buffer) + 1);
	return rc;
}

Test(escape, decodes)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "abc", "abc" },
		{ "a%20b", "a b" },
		{ "%2F%2f", "//" },
		{ "%25", "%" },
		{ "%2525", "%25" },
		{ "%C3%a4", "\xc3\xa4" },
		{ "\xc3%a4", "\xc3\xa4" },
		{ "a+b", "a+b" },
		{ "%7E%7e", "~~" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_expect_eq(decode(cases[i][0]), 0, "%s", cases[i][0]);
		cr_expect_str_eq(buffer, cases[i][1]);
	}
}

Test(escape, refuses_broken_escapes)
{
	static const char *const bad[] = { "%",    "a%",  "%4",  "%g0", "%0g",
					   "%%25", "% 0", "%/0", "%:0", "%@0",
					   "%`0",  "%G0", "%0%", "%-1" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_eq(decode(bad[i]), DLOCK_EINVAL, "%s", bad[i]);
		cr_expect_str_eq(err.text, "the thing has a broken escape; "
					   "write '%' itself as %25");
	}
}

Test(escape, refuses_what_decodes_to_no_text)
{
	static const char *const control[] = { "a%00", "a%0d%0a", "a%7f",
					       "a%c2%85", "a%1B[0m" };
	static const char *const broken[] = { "a%ff", "a%c3", "a%c0%80",
					      "a%ed%a0%80" };

	for (size_t i = 0; i < sizeof(control) / sizeof(control[0]); i++) {
		cr_expect_eq(decode(control[i]), DLOCK_EINVAL);
		cr_expect_str_eq(err.text, "byte 2 of the thing is a control "
					   "character");
	}
	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		cr_expect_eq(decode(broken[i]), DLOCK_EINVAL);
		cr_expect_str_eq(err.text, "byte 2 of the thing is not UTF-8");
	}
}

Test(escape, encodes_all_but_what_is_plain_or_kept)
{
	char out[64], *to = out;

	dlki_escape(&to, "aZ09-._~/@ %\xc3\xa4", "/");
	*to = '\0';
	cr_expect_str_eq(out, "aZ09-._~/%40%20%25%C3%A4");
	to = out;
	dlki_escape(&to, "", "");
	cr_expect_eq(to, out);
}

Test(escape, what_is_encoded_is_decoded_again)
{
	char text[128], out[3 * sizeof(text)], *to = out;
	size_t n = 0;

	for (char c = ' '; c < 0x7f; c++)
		text[n++] = c;
	text[n] = '\0';
	dlki_escape(&to, text, "");
	*to = '\0';
	cr_expect_eq(decode(out), 0);
	cr_expect_str_eq(buffer, text);
}
