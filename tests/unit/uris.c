/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/uris.h"

#include <criterion/criterion.h>
#include <string.h>

/* A scheme with users. */
const struct dlk_param uri_table[] = {
	{ "password_file", DLK_TEXT, NULL, 1, 4000, NULL, "A file." },
	{ "old_password", DLK_TEXT, NULL, 0, 100, NULL, "A secret." },
	{ "db", DLK_NUMBER, "0", 0, 15, NULL, "A number." },
	{ 0 }
};

struct dlk_uri *uri;
struct dlk_error err;

void uri_end(void)
{
	dlki_uri_free(uri);
	uri = NULL;
}

void parse(const char *text)
{
	uri_end();
	memset(&err, 0, sizeof(err));
	cr_assert_eq(dlki_uri_parse(&uri, text, uri_table, NULL, &err), 0,
		     "%s: %s", text, err.text);
}

void expect_refused(const char *text, const char *why)
{
	uri_end();
	memset(&err, 0, sizeof(err));
	cr_expect_eq(dlki_uri_parse(&uri, text, uri_table, NULL, &err),
		     DLOCK_EINVAL, "%s", text);
	cr_expect_eq(err.code, DLOCK_EINVAL);
	cr_expect_str_eq(err.text, why);
	cr_expect_null(uri);
	cr_expect_eq(dlki_uri_parse(&uri, text, uri_table, NULL, NULL),
		     DLOCK_EINVAL);
}

void expect_text(const char *got, const char *expected)
{
	if (expected)
		cr_assert_not_null(got);
	cr_expect(expected ? strcmp(got, expected) == 0 : got == NULL,
		  "got '%s', expected '%s'", got ? got : "NULL",
		  expected ? expected : "NULL");
}
