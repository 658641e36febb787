/* SPDX-License-Identifier: Apache-2.0 */
#include "markup.h"

#include "lab/base/fail.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

bool markup_is_good(const char *page)
{
	FILE *reader = popen("python3 " MARKUP_READER, "we");

	cr_assert(reader && fputs(page, reader) >= 0);
	return pclose(reader) == 0;
}

void expect_part(const char *text, const char *part)
{
	cr_expect(strstr(text, part), "not there: %s", part);
}

size_t markup_count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		n++;
	return n;
}

char *markup_of(int (*write)(FILE *out, const struct lab_findings *f),
		const struct lab_findings *findings)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	cr_assert(out);
	cr_assert_eq(write(out, findings), 0, "%s", lab_errmsg());
	cr_assert_eq(fclose(out), 0);
	return text;
}
