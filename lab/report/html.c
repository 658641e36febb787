/* SPDX-License-Identifier: Apache-2.0 */
/* Every tag is closed and every attribute quoted, as XML has it, so that a
 * simple reader can check the page. */
#include "lab/report/impl.h"
#include "lab/report/report.h"

static const struct lab_escape html_escapes[] = {
	{ '<', "&lt;" },   { '>', "&gt;" },   { '&', "&amp;" },
	{ '"', "&quot;" }, { '\'', "&#39;" }, { 0, NULL },
};

static void html_head(struct lab_sheet *s, const struct lab_findings *f)
{
	char date[LAB_SHORT];

	lab_put(s,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\"/>\n"
		"<meta name=\"viewport\" content=\"width=device-width, "
		"initial-scale=1\"/>\n"
		"<meta name=\"generator\" content=\"dlock %s\"/>\n"
		"<title>Locks compared, %s</title>\n",
		f->run.version, lab_say_date(date, f->run.began));
	lab_html_style(s);
	/* Definitions shared by the drawings; invisible. */
	lab_put(s, "</head>\n<body>\n"
		   "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" "
		   "style=\"position:absolute\"><defs><pattern id=\"hatch\" "
		   "width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\" "
		   "patternTransform=\"rotate(45)\"><line class=\"hatch\" "
		   "x1=\"0\" y1=\"0\" x2=\"0\" y2=\"7\"/></pattern></defs>"
		   "</svg>\n");
}

static void html_store(struct lab_sheet *s, const struct lab_store *it,
		       size_t i)
{
	char text[256], lease[LAB_SHORT];

	lab_put(s,
		"<tr id=\"s-%zu\"><th scope=\"row\">%s</th>"
		"<td><code>%s</code></td><td class=\"w\">%s",
		i, it->name, it->uri, it->server);
	if (*it->settings)
		lab_put(s, " <small>%s</small>", it->settings);
	if (*it->trouble)
		lab_put(s, " <strong>nothing was run: %s</strong>",
			it->trouble);
	lab_put(s, "</td><td class=\"w\">%s</td><td class=\"n\">%s</td></tr>\n",
		lab_store_declares(text, it), lab_store_lease(lease, it));
}

static void html_stores(struct lab_sheet *s, const struct lab_findings *f)
{
	if (f->n_stores == 0) {
		lab_put(s, "<p>None.</p>\n");
		return;
	}
	lab_put(s, "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
		   "aria-label=\"stores, a table that scrolls\">\n"
		   "<table>\n<caption>What was compared, and what it declares"
		   "</caption>\n<thead><tr><th scope=\"col\">store</th>"
		   "<th scope=\"col\">address</th>"
		   "<th scope=\"col\">server and settings</th>"
		   "<th scope=\"col\">declares</th>"
		   "<th scope=\"col\" class=\"n\">lease</th></tr></thead>\n"
		   "<tbody>\n");
	for (size_t i = 0; i < f->n_stores; i++)
		html_store(s, &f->stores[i], i);
	lab_put(s, "</tbody>\n</table>\n</div>\n");
}

/* In the order of the page. */
static const struct {
	const char *id, *title;
	void (*write)(struct lab_sheet *s, const struct lab_findings *f);
} sections[] = {
	{ "matrix", "Verdicts", lab_html_matrix },
	{ "stores", "Stores", html_stores },
	{ "figures", "Figures", lab_html_figures },
	{ "recovery", "Recovery", lab_html_bars },
	{ "timelines", "Timelines", lab_html_timelines },
	{ "details", "Details", lab_html_details },
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

static void html_fact(struct lab_sheet *s, const char *term, const char *text)
{
	if (*text)
		lab_put(s, "<dt>%s</dt><dd>%s</dd>\n", term, text);
}

/* Write the words of the table below, how often each fell, and the meaning. */
static void html_summary(struct lab_sheet *s, const struct lab_findings *f)
{
	lab_put(s, "<ul class=\"sum\" aria-label=\"verdicts, counted\">\n");
	for (int i = LAB_NOUTCOMES - 1; i >= 0; i--) {
		enum lab_outcome o = (enum lab_outcome)i;
		size_t n = lab_count_outcome(f, o);

		/* An outcome that did not happen should not catch the eye. */
		lab_put(s, "<li class=\"v-%s\">",
			lab_outcome_key(n ? o : LAB_OUTCOME_NOT_RUN));
		lab_html_verdict(s, o);
		lab_put(s, ": %zu</li>\n", n);
	}
	lab_put(s, "</ul>\n");
}

static void html_header(struct lab_sheet *s, const struct lab_findings *f)
{
	const struct lab_run *r = &f->run;

	lab_put(s,
		"<header>\n<h1>Locks compared: %zu store%s, %zu "
		"scenario%s</h1>\n",
		f->n_stores, f->n_stores == 1 ? "" : "s", f->n_scenarios,
		f->n_scenarios == 1 ? "" : "s");
	if (r->interrupted)
		lab_put(s, "<p><strong>Interrupted: what is missing was not "
			   "reached.</strong></p>\n");
	lab_put(s, "<dl class=\"run\">\n");
	lab_each_fact(s, r, html_fact);
	lab_put(s, "</dl>\n");
	html_summary(s, f);
	lab_put(s, "<nav aria-label=\"parts of this page\"><ul>");
	for (size_t i = 0; i < SECTIONS; i++)
		lab_put(s, "<li><a href=\"#%s\">%s</a></li>", sections[i].id,
			sections[i].title);
	lab_put(s, "</ul></nav>\n</header>\n");
}

int lab_write_html(FILE *out, const struct lab_findings *f)
{
	struct lab_sheet s = { .out = out, .escapes = html_escapes };

	html_head(&s, f);
	html_header(&s, f);
	lab_put(&s, "<main>\n");
	for (size_t i = 0; i < SECTIONS; i++) {
		lab_put(&s,
			"<section aria-labelledby=\"%s\">\n"
			"<h2 id=\"%s\">%s</h2>\n",
			sections[i].id, sections[i].id, sections[i].title);
		sections[i].write(&s, f);
		lab_put(&s, "</section>\n");
	}
	lab_put(&s, "</main>\n</body>\n</html>\n");
	return lab_sheet_end(&s);
}
