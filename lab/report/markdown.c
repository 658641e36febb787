/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report/impl.h"
#include "lab/report/report.h"

#include <ctype.h>
#include <math.h>

/* Characters with a meaning to GitHub anywhere in a line or in a table. */
static const struct lab_escape markdown_escapes[] = {
	{ '<', "&lt;" },  { '>', "&gt;" }, { '&', "&amp;" }, { '|', "\\|" },
	{ '\\', "\\\\" }, { '`', "\\`" },  { '*', "\\*" },   { '_', "\\_" },
	{ '~', "\\~" },   { '[', "\\[" },  { ']', "\\]" },   { '$', "\\$" },
	{ 0, NULL },
};

static void markdown_fact(struct lab_sheet *s, const char *term,
			  const char *text)
{
	char name[LAB_SHORT];

	snprintf(name, sizeof(name), "%s", term);
	name[0] = (char)tolower((unsigned char)name[0]);
	if (*text)
		lab_put(s, "| %s | %s |\n", name, text);
}

static void markdown_header(struct lab_sheet *s, const struct lab_findings *f)
{
	lab_put(s, "# Locks compared\n\n");
	if (f->run.interrupted)
		lab_put(s, "**Interrupted: what is missing was not reached.**"
			   "\n\n");
	lab_put(s, "| run | |\n| --- | --- |\n");
	lab_each_fact(s, &f->run, markdown_fact);
	for (int i = LAB_NOUTCOMES - 1; i >= 0; i--) {
		enum lab_outcome o = (enum lab_outcome)i;

		lab_put(s, "| %s %s | %zu |\n", lab_say_symbol(o),
			lab_outcome_words(o), lab_count_outcome(f, o));
	}
}

static void markdown_matrix(struct lab_sheet *s, const struct lab_findings *f)
{
	char text[LAB_SHORT];

	lab_put(s, "\n## Verdicts\n\n| scenario |");
	for (size_t i = 0; i < f->n_stores; i++)
		lab_put(s, " %s |", f->stores[i].name);
	lab_put(s, "\n| --- |");
	for (size_t i = 0; i < f->n_stores; i++)
		lab_put(s, " --- |");
	lab_put(s, "\n");
	for (size_t b = 0; b < f->n_scenarios; b++) {
		lab_put(s, "| %s%s |", f->scenarios[b].title,
			f->scenarios[b].fault ? " (fault)" : "");
		for (size_t i = 0; i < f->n_stores; i++) {
			const struct lab_finding *c = lab_finding(f, i, b);
			bool lie = c->outcome == LAB_OUTCOME_LIE;
			const char *bold = lie ? "**" : "";

			lab_put(s, " %s ", lab_say_symbol(c->outcome));
			lab_put_raw(s, bold);
			lab_put(s, "%s", lab_outcome_words(c->outcome));
			lab_put_raw(s, bold);
			if (c->found_ms >= 0)
				lab_put(s, ", found after %s",
					lab_say_ms(text, (double)c->found_ms));
			lab_put(s, " |");
		}
		lab_put(s, "\n");
	}
}

static void markdown_stores(struct lab_sheet *s, const struct lab_findings *f)
{
	char text[256], lease[LAB_SHORT];

	lab_put(s, "\n## Stores\n\n"
		   "| store | address | server | settings | declares | lease "
		   "|\n| --- | --- | --- | --- | --- | ---: |\n");
	for (size_t i = 0; i < f->n_stores; i++) {
		const struct lab_store *it = &f->stores[i];

		lab_put(s, "| %s | %s | %s | %s%s%s | ", it->name, it->uri,
			it->server, it->settings,
			*it->trouble ? " nothing was run: " : "", it->trouble);
		lab_put(s, "%s | %s |\n", lab_store_declares(text, it),
			lab_store_lease(lease, it));
	}
}

static void markdown_figure(struct lab_sheet *s, const struct lab_findings *f,
			    const struct lab_figure *g)
{
	char n[LAB_SHORT], p50[LAB_SHORT], p99[LAB_SHORT], max[LAB_SHORT];
	char floor_p50[LAB_SHORT];
	bool none = g->samples == 0;

	lab_put(s, "| %s | %s | %s | %s | %s | %s | %s |\n",
		f->stores[g->store].name, lab_say_seed(n, g->samples),
		lab_say_number(p50, none ? NAN : g->p50),
		lab_say_number(p99, none ? NAN : g->p99),
		lab_say_number(max, none ? NAN : g->max),
		lab_say_number(floor_p50,
			       g->floor_p50 < 0 ? NAN : g->floor_p50),
		g->floor);
}

static void markdown_figures(struct lab_sheet *s, const struct lab_findings *f)
{
	if (f->n_figures)
		lab_put(s, "\n## Figures\n\nTimes are counted from the "
			   "intended start. The floor is the p50 of the bare "
			   "transport, measured beside it.\n");
	for (size_t i = 0; i < f->n_figures; i++) {
		const struct lab_figure *g = &f->figures[i];

		if (!lab_figure_leads(f, i))
			continue;
		lab_put(s,
			"\n### %s%s%s\n\n%s is better.\n\n"
			"| store | samples | p50 | p99 | max | floor | which "
			"is |\n| --- | ---: | ---: | ---: | ---: | ---: | --- "
			"|\n",
			g->name, *g->unit ? ", " : "", lab_say_unit(g->unit),
			g->more_is_better ? "More" : "Less");
		for (size_t j = i; j < f->n_figures; j++)
			if (lab_figure_same(f, i, j))
				markdown_figure(s, f, &f->figures[j]);
	}
}

static void markdown_event(struct lab_sheet *s, const char *who,
			   const char *what, double from, double to)
{
	char text[LAB_SHORT];

	lab_put(s, "| %s | %s | %s |", who, what, lab_say_ms(text, from));
	lab_put(s, " %s |\n", to >= from ? lab_say_ms(text, to) : "");
}

static void markdown_timeline(struct lab_sheet *s, const struct lab_findings *f,
			      const struct lab_timeline *t)
{
	lab_put(s,
		"\n### %s, %s\n\n"
		"| who | what | from | to |\n| --- | --- | ---: | ---: |\n",
		f->stores[t->store].name, f->scenarios[t->scenario].title);
	markdown_event(s, "fault", t->fault, 0,
		       t->fault_to < 0 ? NAN : t->fault_to);
	lab_each_event(s, t, markdown_event);
}

/* A plain "kept" needs no words. */
static void markdown_details(struct lab_sheet *s, const struct lab_findings *f)
{
	lab_put(s, "\n## Details\n\n"
		   "| scenario | store | verdict | in words |\n"
		   "| --- | --- | --- | --- |\n");
	for (size_t b = 0; b < f->n_scenarios; b++)
		for (size_t i = 0; i < f->n_stores; i++) {
			const struct lab_finding *c = lab_finding(f, i, b);

			if (!*c->why && !*c->log)
				continue;
			lab_put(s, "| %s | %s | %s | %s%s%s |\n",
				f->scenarios[b].title, f->stores[i].name,
				lab_outcome_words(c->outcome), c->why,
				*c->log ? " histories: " : "", c->log);
		}
	lab_put(s, "\n## What is to be kept\n\n"
		   "| scenario | guarantee |\n| --- | --- |\n");
	for (size_t b = 0; b < f->n_scenarios; b++)
		lab_put(s, "| %s | %s |\n", f->scenarios[b].title,
			f->scenarios[b].guarantee);
}

int lab_write_markdown(FILE *out, const struct lab_findings *f)
{
	struct lab_sheet s = { .out = out, .escapes = markdown_escapes };

	markdown_header(&s, f);
	markdown_matrix(&s, f);
	markdown_stores(&s, f);
	markdown_figures(&s, f);
	if (f->n_timelines)
		lab_put(&s, "\n## Timelines\n\nWho believed to hold when, "
			    "since the fault began.\n");
	for (size_t i = 0; i < f->n_timelines; i++)
		markdown_timeline(&s, f, &f->timelines[i]);
	markdown_details(&s, f);
	return lab_sheet_end(&s);
}
