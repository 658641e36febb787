/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report/impl.h"

#include <math.h>
#include <string.h>

static void number_cell(struct lab_sheet *s, double value)
{
	char text[LAB_SHORT];

	lab_put(s, "<td class=\"n\">%s</td>", lab_say_number(text, value));
}

/* The columns for a group. */
struct columns {
	bool single;      /* no store has several samples */
	bool floor;       /* some store has a floor */
	const char *same; /* the floor of all stores; NULL: they differ */
};

static struct columns columns_of(const struct lab_findings *f, size_t lead)
{
	struct columns c = { .single = true };

	for (size_t i = lead; i < f->n_figures; i++) {
		const struct lab_figure *g = &f->figures[i];

		if (!lab_figure_same(f, lead, i))
			continue;
		c.single &= g->samples <= 1;
		if (g->floor_p50 < 0)
			continue;
		if (!c.floor)
			c.same = g->floor;
		else if (c.same && strcmp(c.same, g->floor) != 0)
			c.same = NULL;
		c.floor = true;
	}
	return c;
}

static void figure_row(struct lab_sheet *s, const struct lab_findings *f,
		       const struct lab_figure *g, struct columns columns)
{
	bool has_floor = g->floor_p50 >= 0;
	char count[LAB_SHORT];

	lab_put(s, "<tr><th scope=\"row\">%s</th>", f->stores[g->store].name);
	if (!columns.single) {
		lab_put(s, "<td class=\"n\">%s</td>",
			lab_say_seed(count, g->samples));
		number_cell(s, g->samples ? g->p50 : NAN);
		number_cell(s, g->samples ? g->p99 : NAN);
	}
	number_cell(s, g->samples ? g->max : NAN);
	if (columns.floor)
		number_cell(s, has_floor ? g->floor_p50 : NAN);
	if (columns.floor && !columns.same)
		lab_put(s, "<td>%s</td>", has_floor ? g->floor : "none");
	lab_put(s, "</tr>\n");
}

/* List the stores without a row. */
static void stores_without(struct lab_sheet *s, const struct lab_findings *f,
			   const char *id)
{
	bool any = false;

	for (size_t i = 0; i < f->n_stores; i++) {
		if (lab_figure(f, i, id))
			continue;
		lab_put_raw(s, any ? ", " : "<p class=\"dim\">Not measured: ");
		lab_put(s, "%s", f->stores[i].name);
		any = true;
	}
	if (any)
		lab_put(s, ".</p>\n");
}

static void figure_table(struct lab_sheet *s, const struct lab_findings *f,
			 size_t lead)
{
	const struct lab_figure *g = &f->figures[lead];
	struct columns columns = columns_of(f, lead);

	lab_put(s, "<table>\n<caption>%s%s%s; %s is better%s%s%s</caption>\n",
		g->name, *g->unit ? ", in " : "", lab_say_unit(g->unit),
		g->more_is_better ? "more" : "less",
		columns.single ? "; measured once" : "",
		columns.same ? "; floor: " : "",
		columns.same ? columns.same : "");
	lab_put(s, "<thead><tr><th scope=\"col\">store</th>");
	if (!columns.single)
		lab_put(s, "<th scope=\"col\" class=\"n\">samples</th>"
			   "<th scope=\"col\" class=\"n\">p50</th>"
			   "<th scope=\"col\" class=\"n\">p99</th>");
	lab_put(s, "<th scope=\"col\" class=\"n\">%s</th>",
		columns.single ? "value" : "max");
	if (columns.floor)
		lab_put(s, "<th scope=\"col\" class=\"n\">floor</th>");
	if (columns.floor && !columns.same)
		lab_put(s, "<th scope=\"col\">which is</th>");
	lab_put(s, "</tr></thead>\n<tbody>\n");
	for (size_t i = lead; i < f->n_figures; i++)
		if (lab_figure_same(f, lead, i))
			figure_row(s, f, &f->figures[i], columns);
	lab_put(s, "</tbody>\n</table>\n");
}

static bool has_curves(const struct lab_findings *f, size_t lead)
{
	for (size_t i = lead; i < f->n_figures; i++)
		if (lab_figure_same(f, lead, i) && f->figures[i].has_curve)
			return true;
	return false;
}

static void figure_group(struct lab_sheet *s, const struct lab_findings *f,
			 size_t lead)
{
	const struct lab_figure *g = &f->figures[lead];
	bool curves = has_curves(f, lead);

	lab_put(s,
		"<div class=\"group%s\">\n<h3 id=\"f-%zu\">%s</h3>\n"
		"<div class=\"plots\">\n<div>\n"
		"<div class=\"wide\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"%s, a table that may scroll\">\n",
		curves ? "" : " small", lead, g->name, g->name);
	figure_table(s, f, lead);
	lab_put(s, "</div>\n");
	stores_without(s, f, g->id);
	lab_put(s, "</div>\n");
	if (curves)
		lab_html_curves(s, f, lead);
	lab_put(s, "</div>\n</div>\n");
}

void lab_html_figures(struct lab_sheet *s, const struct lab_findings *f)
{
	if (f->n_figures)
		lab_put(s, "<p>Times are counted from the intended start. p50 "
			   "and p99: that part of the samples is at or below "
			   "it, in percent. The floor is the p50 of the bare "
			   "transport, measured beside it.</p>\n");
	else
		lab_put(s, "<p>Nothing was measured.</p>\n");
	lab_put(s, "<div class=\"plots\">\n");
	for (size_t i = 0; i < f->n_figures; i++)
		if (lab_figure_leads(f, i))
			figure_group(s, f, i);
	lab_put(s, "</div>\n");
}
