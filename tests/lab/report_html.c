/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"
#include "lab/report/report.h"
#include "made_findings.h"
#include "markup.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(report_html, .timeout = 600);

/* Return a good page. The caller frees the page; the findings are freed
 * here. */
static char *page_of(struct lab_findings *f)
{
	char *page;

	cr_assert(f);
	page = markup_of(lab_write_html, f);
	cr_expect(markup_is_good(page));
	lab_findings_free(f);
	return page;
}

Test(report_html, the_reader_of_pages_sees_what_is_wrong)
{
	static const char *const bad[] = {
		"<p>",
		"<p id=\"a\"><p id=\"a\"/></p>",
		"<a href=\"#b\"/>",
		"<rect x=\"461\"/>",
		"<rect x=\"nan\"/>",
		"<path transform=\"translate(-1 0)\"/>",
	};
	char page[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(page, sizeof(page), "<!DOCTYPE html>\n%s", bad[i]);
		cr_expect_not(markup_is_good(page), "%s", bad[i]);
	}
	cr_expect(markup_is_good("<!DOCTYPE html>\n<p a=\"b\">&lt;<i/></p>"));
}

Test(report_html, the_findings_are_all_there)
{
	char *page = page_of(dated_findings());

	expect_part(page, "<dd>2025-11-21 13:20:00 UTC</dd>");
	expect_part(page, "<dd>r 0</dd>");
	expect_part(page, "<dd>20251121</dd>");
	expect_part(page, "<dd>private servers, faults included; quick</dd>");
	expect_part(page, "settings 0");
	expect_part(page, "why 0");
	expect_part(page, "LOST came 699 ms after the loss.");
	expect_part(page, "found after <span class=\"nb\">699 ms</span>");
	expect_part(page, "nothing was run: trouble 1");
	expect_part(page, "Not measured: store 1.");
	cr_expect_eq(markup_count(page, "Percentile curves"), 1);
	free(page);
}

Test(report_html, every_verdict_has_its_word_and_leads_to_its_detail)
{
	struct lab_findings *f = made_findings(LAB_NOUTCOMES, NULL);
	char part[200];
	char *page;

	cr_assert(f);
	page = markup_of(lab_write_html, f);
	for (size_t s = 0; s < f->n_stores; s++)
		for (size_t b = 0; b < f->n_scenarios; b++) {
			enum lab_outcome o = lab_finding(f, s, b)->outcome;

			snprintf(part, sizeof(part),
				 "<td class=\"v-%s\"><a href=\"#d-%zu-%zu\">",
				 lab_outcome_key(o), b, s);
			expect_part(page, part);
		}
	for (int o = 0; o < LAB_NOUTCOMES; o++) {
		snprintf(part, sizeof(part), "%s</a>",
			 lab_outcome_words((enum lab_outcome)o));
		expect_part(page, part);
	}
	lab_findings_free(f);
	free(page);
}

Test(report_html, figures_stand_beside_their_floor)
{
	struct lab_findings *f = made_findings(1, NULL);
	char *page;

	f->figures[0].p50 = 71.25;
	f->figures[0].p99 = 480;
	f->figures[0].max = 0.0625;
	page = page_of(f);
	expect_part(page,
		    "<th scope=\"row\">store 0</th><td class=\"n\">300</td>"
		    "<td class=\"n\">71.3</td><td class=\"n\">480</td>"
		    "<td class=\"n\">0.063</td><td class=\"n\">17</td></tr>");
	expect_part(page, "; floor: floor 0</caption>");
	free(page);
	f = made_findings(2, NULL);
	for (size_t i = 0; i < f->n_figures; i++)
		if (f->figures[i].store == 1)
			f->figures[i].floor = "another";
	page = page_of(f);
	expect_part(page, "<td class=\"n\">17</td><td>floor 0</td></tr>");
	expect_part(page, "<td>another</td></tr>");
	free(page);
}

Test(report_html, overlaps_are_hatched_and_named)
{
	char *page = page_of(dated_findings());

	cr_expect_eq(markup_count(page, "class=\"both\""), 1);
	cr_expect_eq(markup_count(page, "OVERLAP: two believed to hold, "
					"721 ms"),
		     1);
	cr_expect_eq(markup_count(page, "no two believed to hold at once"), 1);
	cr_expect_eq(markup_count(page, "class=\"cross\""), 1);
	cr_expect_eq(markup_count(page, ">LOST 962 ms</text>"), 1);
	cr_expect_eq(markup_count(page, "fault, 0 to 220 ms"), 2);
	free(page);
}

Test(report_html, nothing_comes_from_outside)
{
	static const char *const outside[] = {
		"http",    "src=",  "<script", "<link", "@import",
		"@font-f", "url(/", "url(\"",  "//",
	};
	char *page = page_of(made_findings(3, "plain"));

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		cr_expect_not(strstr(page, outside[i]), "%s", outside[i]);
	cr_expect_eq(markup_count(page, "url("), markup_count(page, "url(#"));
	free(page);
}

Test(report_html, strings_do_not_break_out)
{
	static const char *const texts[] = {
		"<script>alert('1')</script>",
		"\"><img onerror=\"x\"/><p title='y'>&amp;&lt;",
		"]]>--></style></svg></td>&#60;",
		"a\tb\r\nc\x01\x1b[0m\x7f",
		"\xff\xfe\xc0\xaf\xed\xa0\x80\xf5 \xe2\x82",
		"%s%n%d{}",
		"",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *page = page_of(made_findings(2, texts[i]));

		cr_expect_not(strstr(page, "<script"));
		cr_expect_not(strstr(page, "<img"));
		cr_expect_not(strstr(page, "\xff"));
		free(page);
	}
}

Test(report_html, sets_of_any_size)
{
	static const size_t sizes[] = { 0, 1, 12, 40 };
	char *page;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		free(page_of(made_findings(sizes[i], NULL)));
	page = page_of(lab_findings_new());
	expect_part(page, "Nothing was run.");
	expect_part(page, "Nothing was measured.");
	expect_part(page, "No fault was made.");
	free(page);
}

Test(report_html, what_makes_no_sense_is_not_drawn)
{
	char *page = page_of(made_nonsense());
	const char *body = strstr(page, "<main>");

	cr_assert(body);
	cr_expect_not(strstr(body, "nan"));
	cr_expect_not(strstr(body, "inf"));
	free(page);
}

Test(report_html, long_names_are_shortened_in_drawings)
{
	char text[5000];
	char *page, *drawing;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	page = page_of(made_findings(2, text));
	cr_expect(strstr(page, text));
	drawing = strstr(page, "<text class=\"name\"");
	cr_assert(drawing);
	expect_part(drawing, ">xxxxxxxxxxxx…</text>");
	free(page);
}

Test(report_html, a_full_disk_is_told)
{
	struct lab_findings *f = made_findings(1, NULL);
	FILE *full = fopen("/dev/full", "w");

	cr_assert(f && full);
	for (int i = 0; i < 2; i++) {
		lab_fail("none");
		cr_expect_eq(i ? lab_write_markdown(full, f) :
				 lab_write_html(full, f),
			     -1);
		cr_expect_str_eq(lab_errmsg(), "the report cannot be written: "
					       "No space left on device");
	}
	fclose(full);
	lab_findings_free(f);
}
