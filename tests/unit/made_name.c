/* SPDX-License-Identifier: Apache-2.0 */
#include "core/name.h"

#include <criterion/criterion.h>
#include <string.h>

#include "core/name.h"

static char name[DLOCK_NAME_SIZE];

static void expect_made(const char *bytes, size_t len, int made,
			const char *wanted)
{
	struct dlk_error err = { 0 };

	cr_expect_eq(dlki_name_make(name, bytes, len, &err), made);
	cr_expect_str_eq(name, wanted);
	cr_expect_eq(dlki_name_check(name, &err), 0, "%s", err.text);
}

#define MADE(bytes, made, wanted)                                              \
	expect_made(bytes, sizeof(bytes) - 1, made, wanted)

Test(made_name, of_a_legal_name_is_that)
{
	MADE("billing/nightly", DLOCK_NAME_SAME, "billing/nightly");
	MADE("a b%20%", DLOCK_NAME_SAME, "a b%20%");
	MADE("\xc3\xa4", DLOCK_NAME_SAME, "\xc3\xa4");
	MADE("%e", DLOCK_NAME_SAME, "%e");
}

Test(made_name, of_other_bytes_is_escaped)
{
	MADE("", DLOCK_NAME_ESCAPED, "%e:");
	MADE("a\0b", DLOCK_NAME_ESCAPED, "%e:a%00b");
	MADE("a b%\n", DLOCK_NAME_ESCAPED, "%e:a%20b%25%0a");
	MADE("\xc3\xa4\xff", DLOCK_NAME_ESCAPED, "%e:%c3%a4%ff");
	/* A name that looks escaped is escaped again. */
	MADE("%e:a%00b", DLOCK_NAME_ESCAPED, "%e:%25e:a%2500b");
	MADE("%h:", DLOCK_NAME_ESCAPED, "%e:%25h:");
}

Test(made_name, of_many_bytes_is_hashed)
{
	static char many[100000], same[DLOCK_NAME_SIZE];
	struct dlk_error err = { 0 };

	memset(many, 'x', sizeof(many));
	memset(same, 'x', sizeof(same) - 1);
	expect_made(many, 255, DLOCK_NAME_SAME, same);
	expect_made(many, 256, DLOCK_NAME_HASHED,
		    "%h:"
		    "85e62acd750c4eb56b7b6a1d66dca5bf"
		    "aac5f062608a1a893410d0288936c09a");
	many[0] = '\n';
	cr_expect_eq(dlki_name_make(name, many, 250, &err), DLOCK_NAME_ESCAPED);
	cr_expect_eq(strlen(name), 255);
	cr_expect_eq(dlki_name_make(name, many, 251, &err), DLOCK_NAME_HASHED);
	cr_expect_eq(dlki_name_make(name, many, sizeof(many), &err),
		     DLOCK_NAME_HASHED);
}

Test(made_name, refuses_null)
{
	struct dlk_error err = { 0 };

	cr_expect_eq(dlki_name_make(NULL, "a", 1, &err), DLOCK_EINVAL);
	cr_expect_eq(dlki_name_make(name, NULL, 1, &err), DLOCK_EINVAL);
	expect_made(NULL, 0, DLOCK_NAME_ESCAPED, "%e:");
}
