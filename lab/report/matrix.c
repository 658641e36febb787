/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report/impl.h"

void lab_html_verdict(struct lab_sheet *s, enum lab_outcome outcome)
{
	lab_put(s, "<span aria-hidden=\"true\">%s</span> %s",
		lab_say_symbol(outcome), lab_outcome_words(outcome));
}

static void matrix_cell(struct lab_sheet *s, const struct lab_findings *f,
			size_t store, size_t scenario)
{
	const struct lab_finding *c = lab_finding(f, store, scenario);
	char text[LAB_SHORT];

	lab_put(s, "<td class=\"v-%s\"><a href=\"#d-%zu-%zu\">",
		lab_outcome_key(c->outcome), scenario, store);
	lab_html_verdict(s, c->outcome);
	lab_put(s, "</a>");
	if (c->found_ms >= 0)
		lab_put(s,
			"<small>found after "
			"<span class=\"nb\">%s</span></small>",
			lab_say_ms(text, (double)c->found_ms));
	lab_put(s, "</td>");
}

/* Write the scenarios without or with a fault, under a line that says so. */
static void matrix_rows(struct lab_sheet *s, const struct lab_findings *f,
			bool fault)
{
	bool any = false;

	for (size_t b = 0; b < f->n_scenarios; b++) {
		if (f->scenarios[b].fault != fault)
			continue;
		if (!any)
			lab_put(s,
				"<tbody>\n<tr class=\"part\"><th "
				"scope=\"rowgroup\" colspan=\"%zu\">%s"
				"</th></tr>\n",
				f->n_stores + 1,
				fault ? "while a fault is made" :
					"while all is well");
		any = true;
		lab_put(s, "<tr><th scope=\"row\"><a href=\"#b-%zu\">%s</a>", b,
			f->scenarios[b].title);
		lab_put(s, "</th>");
		for (size_t i = 0; i < f->n_stores; i++)
			matrix_cell(s, f, i, b);
		lab_put(s, "</tr>\n");
	}
	if (any)
		lab_put(s, "</tbody>\n");
}

void lab_html_matrix(struct lab_sheet *s, const struct lab_findings *f)
{
	if (f->n_stores == 0 || f->n_scenarios == 0) {
		lab_put(s, "<p>Nothing was run.</p>\n");
		return;
	}
	lab_put(s,
		"<p>Every verdict leads to what it rests on. A store is held "
		"to what it declares: not to have something and to say so is "
		"<em>%s</em>; to lose holds where it declares that it can, and "
		"to tell, is <em>%s</em>; to break what it declares is "
		"<em>%s</em>.</p>\n",
		lab_outcome_words(LAB_OUTCOME_REFUSED),
		lab_outcome_words(LAB_OUTCOME_LOSS),
		lab_outcome_words(LAB_OUTCOME_LIE));
	lab_put(s, "<div class=\"wide\" tabindex=\"0\" role=\"region\" "
		   "aria-label=\"verdicts, a table that scrolls\">\n"
		   "<table class=\"matrix\">\n<caption>Behaviour by store"
		   "</caption>\n<thead><tr><th scope=\"col\">scenario</th>");
	for (size_t i = 0; i < f->n_stores; i++)
		lab_put(s, "<th scope=\"col\"><a href=\"#s-%zu\">%s</a></th>",
			i, f->stores[i].name);
	lab_put(s, "</tr></thead>\n");
	matrix_rows(s, f, false);
	matrix_rows(s, f, true);
	lab_put(s, "</table>\n</div>\n");
}

static void detail_reasons(struct lab_sheet *s, const struct lab_findings *f,
			   size_t store, size_t scenario)
{
	const struct lab_finding *c = lab_finding(f, store, scenario);
	char text[LAB_SHORT];

	if (*c->why)
		lab_put(s, "%s%s ", c->why, lab_say_stop(c->why));
	else if (c->outcome == LAB_OUTCOME_NOT_RUN)
		lab_put(s, "No reason was recorded. ");
	if (c->found_ms >= 0)
		lab_put(s, "LOST came %s after the loss. ",
			lab_say_ms(text, (double)c->found_ms));
	for (size_t i = 0; i < f->n_timelines; i++)
		if (f->timelines[i].store == store &&
		    f->timelines[i].scenario == scenario)
			lab_put(s, "<a href=\"#t-%zu\">Timeline: %s</a>. ", i,
				f->timelines[i].fault);
	if (c->outcome != LAB_OUTCOME_NOT_RUN)
		lab_put(s, "<small>Took %s.</small>",
			lab_say_ms(text, (double)c->took_ms));
	if (*c->log)
		lab_put(s, " <small>Histories: <code>%s</code></small>",
			c->log);
}

static void scenario_details(struct lab_sheet *s, const struct lab_findings *f,
			     size_t b)
{
	const struct lab_about *a = &f->scenarios[b];

	lab_put(s,
		"<h3 id=\"b-%zu\">%s <small><code>%s</code></small></h3>\n"
		"<p>To be kept: %s%s</p>\n<table class=\"full\">\n"
		"<caption>%s, by store</caption>\n<thead><tr>"
		"<th scope=\"col\">store</th><th scope=\"col\">verdict</th>"
		"<th scope=\"col\">in words</th></tr></thead>\n<tbody>\n",
		b, a->title, a->id, a->guarantee, lab_say_stop(a->guarantee),
		a->title);
	for (size_t i = 0; i < f->n_stores; i++) {
		enum lab_outcome o = lab_finding(f, i, b)->outcome;

		lab_put(s,
			"<tr id=\"d-%zu-%zu\"><th scope=\"row\">%s</th>"
			"<td class=\"v-%s\">",
			b, i, f->stores[i].name, lab_outcome_key(o));
		lab_html_verdict(s, o);
		lab_put(s, "</td><td>");
		detail_reasons(s, f, i, b);
		lab_put(s, "</td></tr>\n");
	}
	lab_put(s, "</tbody>\n</table>\n");
}

void lab_html_details(struct lab_sheet *s, const struct lab_findings *f)
{
	if (f->n_stores == 0 || f->n_scenarios == 0)
		lab_put(s, "<p>There are none.</p>\n");
	for (size_t b = 0; f->n_stores && b < f->n_scenarios; b++)
		scenario_details(s, f, b);
}
