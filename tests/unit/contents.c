/* SPDX-License-Identifier: Apache-2.0 */
/* Small files that a URI names: what the system refuses. */
#include "core/base/contents.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/fault.h"
#include "support/temp.h"
#include "support/wait.h"

static char dir[PATH_MAX], path[PATH_MAX + 8];

static void set_up(void)
{
	FILE *f;

	CHECK(temp_make(dir) == 0);
	snprintf(path, sizeof(path), "%s/file", dir);
	f = fopen(path, "w");
	CHECK(f && fputs("contents", f) >= 0 && fclose(f) == 0);
}

static void tear_down(void)
{
	temp_remove(dir);
}

TestSuite(contents, .init = set_up, .fini = tear_down);

static int contents(const char *file, struct dlk_error *err)
{
	const struct dlki_file f = { .param = "p",
				     .path = file,
				     .max_bytes = 100 };
	char *bytes = NULL;
	size_t len;
	int rc = dlki_contents_read(&bytes, &len, &f, err);

	if (rc != 0) {
		cr_assert_null(bytes);
		return rc;
	}
	cr_assert_eq(len, 8);
	cr_assert_str_eq(bytes, "contents");
	dlki_contents_free(bytes, len);
	return 0;
}

Test(contents, a_lack_is_no_mistake_in_the_uri)
{
	static const struct {
		const char *call;
		int errnum, code;
		const char *text;
	} faults[] = {
		{ "fstat", EIO, DLOCK_EINVAL, "is not a regular file" },
		{ "malloc", ENOMEM, DLOCK_ENOMEM, "cannot be read: " },
		{ "read", EIO, DLOCK_EINVAL, "cannot be read: " },
		{ "read", ENOMEM, DLOCK_ENOMEM, "cannot be read: " },
		{ "read", EINTR, 0, "" },
	};

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct dlk_error err = { 0 };

		fault_in(faults[i].call, 1, faults[i].errnum);
		CHECK_INT(contents(path, &err), ==, faults[i].code);
		CHECK(fault_came());
		CHECK_TEXT(err.text, faults[i].text);
	}
}

Test(contents, a_circle_of_links_is_named)
{
	struct dlk_error err = { 0 };
	char link[PATH_MAX + 8];

	snprintf(link, sizeof(link), "%s/link", dir);
	CHECK(symlink(link, link) == 0);
	CHECK_INT(contents(link, &err), ==, DLOCK_EINVAL);
	CHECK_TEXT(err.text, "cannot be read: Too many levels");
}
