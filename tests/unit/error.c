/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/error.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

static struct dlk_error e;

Test(error, every_code_has_its_number_name_and_text)
{
	int expected = -1;

#define X(name, value, text)                                                   \
	cr_expect_eq(DLOCK_##name, expected--);                                \
	cr_expect_str_eq(dlock_errname(DLOCK_##name), #name);                  \
	cr_expect_str_eq(dlock_strerror(DLOCK_##name), text);
	DLOCK_ERRORS(X)
#undef X
	cr_expect_str_eq(dlock_errname(DLOCK_OK), "OK");
	cr_expect_str_eq(dlock_strerror(DLOCK_OK), "success");
}

Test(error, a_number_that_is_no_code_has_a_text_too)
{
	static const int codes[] = { 1, -14, 12345, -12345, INT32_MIN };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		cr_expect_str_eq(dlock_errname(codes[i]), "UNKNOWN");
		cr_expect_str_eq(dlock_strerror(codes[i]),
				 "no dlock error code");
	}
}

Test(error, every_capability_has_a_name)
{
	cr_expect_str_eq(dlock_cap_name(DLOCK_CAP_REMOTE), "REMOTE");
	cr_expect_str_eq(dlock_cap_name(DLOCK_CAP_FENCE_DURABLE),
			 "FENCE_DURABLE");
	for (uint32_t bit = 1; bit <= DLOCK_CAP_NO_THREADS; bit <<= 1)
		cr_expect_not_null(dlock_cap_name(bit), "%x", bit);
	for (uint32_t bit = 2; bit <= DLOCK_CAP_NO_THREADS; bit <<= 1)
		cr_expect_str_neq(dlock_cap_name(bit),
				  dlock_cap_name(bit >> 1));
	cr_expect_null(dlock_cap_name(0));
	cr_expect_null(dlock_cap_name(DLOCK_CAP_NO_THREADS << 1));
	cr_expect_null(dlock_cap_name(DLOCK_CAP_REMOTE | DLOCK_CAP_SHARED));
}

Test(error, the_version_is_that_of_the_header)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "%d.%d.%d", DLOCK_VERSION_MAJOR,
		 DLOCK_VERSION_MINOR, DLOCK_VERSION_PATCH);
	cr_expect_str_eq(dlock_version(), expected);
}

Test(error, fail_fills_in_and_keeps_errno)
{
	errno = EXDEV;
	cr_expect_eq(dlk_fail(&e, DLOCK_EPROTO, "got '%s', %d", "x", 3),
		     DLOCK_EPROTO);
	cr_expect_eq(e.code, DLOCK_EPROTO);
	cr_expect_str_eq(e.text, "got 'x', 3");
	cr_expect_eq(dlk_fail(NULL, DLOCK_EBUSY, "nobody reads %d", 1),
		     DLOCK_EBUSY);
	cr_expect_eq(dlki_nomem(&e), DLOCK_ENOMEM);
	cr_expect_eq(e.code, DLOCK_ENOMEM);
	cr_expect_str_eq(e.text, "out of memory");
	cr_expect_eq(dlki_nomem(NULL), DLOCK_ENOMEM);
	cr_expect_eq(errno, EXDEV);
}

Test(error, fail_may_quote_the_text_it_replaces)
{
	(void)dlk_fail(&e, DLOCK_EINVAL, "the end");
	(void)dlk_fail(&e, e.code, "before %s", e.text);
	cr_expect_str_eq(e.text, "before the end");
}

Test(error, control_characters_and_broken_bytes_become_question_marks)
{
	(void)dlk_fail(&e, DLOCK_EINVAL, "%s",
		       "a\x1b[31m\n\x7f|\xc2\x9b|\xff|\xe2\x82|\xc3\xa4");
	cr_expect_str_eq(e.text, "a?[31m??|?|?|??|\xc3\xa4");
}

Test(error, a_long_text_is_cut_between_two_characters)
{
	static const char *const filler[] = { "x", "\xc3\xa4", "\xe2\x82\xac",
					      "\xf0\x9f\x94\x92" };

	for (size_t f = 0; f < 4; f++) {
		size_t width = strlen(filler[f]);

		for (size_t shift = 0; shift < 4; shift++) {
			char text[1024] = "";
			struct dlk_error e;

			memset(text, '.', shift);
			while (strlen(text) < 500)
				strcat(text, filler[f]);
			(void)dlk_fail(&e, DLOCK_EINVAL, "%s", text);
			cr_expect_eq(strlen(e.text),
				     shift + (239 - shift) / width * width);
			cr_expect_null(strchr(e.text, '?'));
			cr_expect_eq(memcmp(e.text, text, strlen(e.text)), 0);
		}
	}
}

Test(error, broken_bytes_in_a_text_that_was_cut_are_replaced)
{
	char text[512];

	memset(text, 0xff, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)dlk_fail(&e, DLOCK_EINVAL, "%s", text);
	cr_expect_eq(strspn(e.text, "?"), strlen(e.text));
	cr_expect_geq(strlen(e.text), 236);
}

/* A wide character without a multibyte form makes vsnprintf() fail. */
Test(error, fail_does_not_fail)
{
	static const wchar_t odd[] = { 0x20ac, 0 };

	setlocale(LC_ALL, "C");
	cr_expect_eq(dlk_fail(&e, DLOCK_EPROTO, "%ls", odd), DLOCK_EPROTO);
	cr_expect_eq(e.code, DLOCK_EPROTO);
	cr_expect_str_eq(e.text, dlock_strerror(DLOCK_EPROTO));
}

Test(error, the_threads_message_is_its_own)
{
	cr_expect_str_eq(dlock_errmsg(), "");
	(void)dlk_fail(&e, DLOCK_EDENIED, "no entry");
	cr_expect_str_eq(dlock_errmsg(), "");
	errno = EXDEV;
	cr_expect_eq(dlki_report(&e), DLOCK_EDENIED);
	cr_expect_str_eq(dlock_errmsg(), "no entry");
	cr_expect_eq(errno, EXDEV);
}

static void report(const char *text)
{
	struct dlk_error e;

	(void)dlk_fail(&e, DLOCK_EINVAL, "%s", text);
	(void)dlki_report(&e);
}

static void *look(void *arg)
{
	*(int *)arg = dlock_errmsg()[0] == '\0';
	report("theirs");
	return NULL;
}

Test(error, other_threads_messages_are_not_seen)
{
	pthread_t thread;
	int empty = 0;

	report("ours");
	cr_assert_eq(pthread_create(&thread, NULL, look, &empty), 0);
	pthread_join(thread, NULL);
	cr_expect(empty);
	cr_expect_str_eq(dlock_errmsg(), "ours");
}

Test(error, errno_values_become_the_code_that_fits)
{
	static const struct {
		int errnum, code;
	} cases[] = {
		{ EMFILE, DLOCK_EEXHAUSTED }, { ENFILE, DLOCK_EEXHAUSTED },
		{ EAGAIN, DLOCK_EEXHAUSTED }, { ENOMEM, DLOCK_ENOMEM },
		{ EACCES, DLOCK_EDENIED },    { EPERM, DLOCK_EDENIED },
		{ EIO, DLOCK_ESYSTEM },       { 99999, DLOCK_ESYSTEM },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct dlk_error e;

		cr_expect_eq(dlki_system(&e, cases[i].errnum, "open /x"),
			     cases[i].code, "%d", cases[i].errnum);
		cr_expect_eq(e.code, cases[i].code);
		cr_expect_eq(strncmp(e.text, "open /x: ", 9), 0);
	}
	cr_expect_str_eq(dlki_errno_text(ENOENT), "No such file or directory");
	cr_expect_str_eq(dlki_errno_text(99999), "unknown system error");
}
