/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report/report.h"
#include "made_findings.h"
#include "markup.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(report_markdown, .timeout = 120);

static size_t bars(const char *line, const char *end)
{
	size_t n = 0;

	for (; line < end; line++) {
		if (*line == '\\')
			line++;
		else if (*line == '|')
			n++;
	}
	return n;
}

/* Rows have as many cells as the table's head; blank lines separate tables from
 * text. */
static void expect_tables(const char *text)
{
	size_t columns = 0;

	while (*text) {
		const char *end = strchr(text, '\n');
		size_t n;

		cr_assert(end, "an unfinished line: %s", text);
		n = *text == '|' ? bars(text, end) : 0;
		if (columns)
			cr_expect(n == columns || text == end,
				  "%zu bars, not %zu: %.*s", n, columns,
				  (int)(end - text), text);
		columns = n;
		text = end + 1;
	}
}

static char *text_of(struct lab_findings *f)
{
	char *text;

	cr_assert(f);
	text = markup_of(lab_write_markdown, f);
	expect_tables(text);
	lab_findings_free(f);
	return text;
}

Test(report_markdown, the_findings_are_all_there)
{
	char *text = text_of(dated_findings());

	expect_part(text, "| date | 2025-11-21 13:20:00 UTC |\n");
	expect_part(text, "| seed | 20251121 |\n");
	expect_part(text, "| ✗✗ DECLARED BUT BROKEN | 2 |\n");
	expect_part(text,
		    "| title 5 (fault) | ✗✗ **DECLARED BUT BROKEN**, "
		    "found after 1.4 s | ○ not run, found after 1.4 s |\n");
	expect_part(text, "| title 3 (fault) | △ declared loss seen | "
			  "✗ broken |\n");
	expect_part(text, "### figure 0, µs\n");
	expect_part(text,
		    "| store 0 | 300 | 150 | 297 | 300 | 17 | floor 0 |\n");
	expect_part(text,
		    "| store 0 | 300 | 150 | 297 | 300 | – | floor 1 |\n");
	expect_part(text, "| two at once | OVERLAP | 241 ms | 962 ms |\n");
	expect_part(text, "| worker 0 | LOST | 962 ms |  |\n");
	expect_part(text, "| title 4 | store 1 | DECLARED BUT BROKEN | why 1 ");
	free(text);
}

Test(report_markdown, strings_do_not_break_out)
{
	char *text = text_of(made_findings(1, "a|b\n# c <d> `e` \\| *f* _g_"));

	cr_expect_not(strstr(text, "\n# c"));
	cr_expect_not(strstr(text, "<d>"));
	expect_part(text,
		    "| a\\|b # c &lt;d&gt; \\`e\\` \\\\\\| \\*f\\* \\_g\\_ |");
	free(text);
}

Test(report_markdown, sets_of_any_size)
{
	static const size_t sizes[] = { 0, 1, 12 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		free(text_of(made_findings(sizes[i], NULL)));
	free(text_of(lab_findings_new()));
}

Test(report_markdown, what_makes_no_sense_is_not_shown)
{
	char *text = text_of(made_nonsense());

	cr_expect_not(strstr(text, "nan"));
	cr_expect_not(strstr(text, "inf"));
	free(text);
}
