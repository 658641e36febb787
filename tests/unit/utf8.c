/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/utf8.h"

#include <criterion/criterion.h>
#include <dlock/backend.h>
#include <string.h>

Test(utf8, reads_every_code_point_in_its_shortest_form)
{
	for (uint32_t u = 1; u <= 0x10ffff; u++) {
		char s[4];
		size_t n = 0;
		uint32_t code = 0;

		if (u < 0x80) {
			s[n++] = (char)u;
		} else if (u < 0x800) {
			s[n++] = (char)(0xc0 | u >> 6);
			s[n++] = (char)(0x80 | (u & 63));
		} else if (u < 0x10000) {
			s[n++] = (char)(0xe0 | u >> 12);
			s[n++] = (char)(0x80 | (u >> 6 & 63));
			s[n++] = (char)(0x80 | (u & 63));
		} else {
			s[n++] = (char)(0xf0 | u >> 18);
			s[n++] = (char)(0x80 | (u >> 12 & 63));
			s[n++] = (char)(0x80 | (u >> 6 & 63));
			s[n++] = (char)(0x80 | (u & 63));
		}
		if (u >= 0xd800 && u <= 0xdfff) {
			cr_assert_eq(dlki_utf8_next(s, n, &code), 0, "%x", u);
			continue;
		}
		cr_assert_eq(dlki_utf8_next(s, n, &code), n, "%x", u);
		cr_assert_eq(code, u);
		if (n > 1)
			cr_assert_eq(dlki_utf8_next(s, n - 1, &code), 0,
				     "%x cut short", u);
	}
}

Test(utf8, refuses_what_is_malformed)
{
	static const char *const bad[] = { "\x80",
					   "\xbf",
					   "\xc0\x80",
					   "\xc1\xbf",
					   "\xe0\x80\x80",
					   "\xe0\x9f\xbf",
					   "\xf0\x80\x80\x80",
					   "\xf0\x8f\xbf\xbf",
					   "\xf4\x90\x80\x80",
					   "\xf7\xbf\xbf\xbf",
					   "\xf8\x88\x80\x80\x80",
					   "\xfe",
					   "\xff",
					   "\xc3",
					   "\xc3(",
					   "\xe2\x82",
					   "\xe2(\xa1",
					   "\xe2\x82(",
					   "\xf0\x9f\x92",
					   "\xed\xa0\x80",
					   "\xed\xbf\xbf" };
	uint32_t code;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_eq(dlki_utf8_next(bad[i], strlen(bad[i]), &code), 0,
			     "case %zu", i);
}

Test(utf8, knows_the_control_characters)
{
	for (uint32_t u = 0; u < 0x200; u++)
		cr_expect_eq(!!dlki_utf8_is_control(u),
			     u <= 0x1f || u == 0x7f || (u >= 0x80 && u <= 0x9f),
			     "%x", u);
}

Test(utf8, names_the_flaw_and_its_place)
{
	size_t at = 0;

	cr_expect_null(dlki_text_flaw("", 0, &at));
	cr_expect_null(dlki_text_flaw("a \xc3\xa4 \xf0\x9f\x94\x92", 9, &at));
	cr_expect_str_eq(dlki_text_flaw("\xc3\xa4\xff", 3, &at),
			 "is not UTF-8");
	cr_expect_eq(at, 3);
	cr_expect_str_eq(dlki_text_flaw("ab\n", 3, &at),
			 "is a control character");
	cr_expect_eq(at, 3);
	cr_expect_str_eq(dlki_text_flaw("\xc2\x85", 2, &at),
			 "is a control character");
	cr_expect_eq(at, 1);
	cr_expect_not_null(dlki_text_flaw("a\0b", 3, &at));
	cr_expect_eq(at, 2);
}

Test(utf8, is_clipped_between_characters)
{
	cr_expect_eq(dlk_utf8_clip("", 4), 0);
	cr_expect_eq(dlk_utf8_clip("abc", 4), 3);
	cr_expect_eq(dlk_utf8_clip("abcd", 4), 4);
	cr_expect_eq(dlk_utf8_clip("abcde", 4), 4);
	cr_expect_eq(dlk_utf8_clip("abc\xc3\xa4", 4), 3);
	cr_expect_eq(dlk_utf8_clip("ab\xc3\xa4x", 4), 4);
	cr_expect_eq(dlk_utf8_clip("a\xf0\x9f\x94\x92", 4), 1);
	cr_expect_eq(dlk_utf8_clip("\xf0\x9f\x94\x92x", 3), 0);
	/* No UTF-8. */
	cr_expect_eq(dlk_utf8_clip("\x80\x80\x80\x80\x80\x80", 5), 5);
}
