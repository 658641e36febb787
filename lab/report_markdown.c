/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report.h"
#include "lab/report_impl.h"

#include <math.h>

/* What means something to GitHub anywhere in a line or in a table. */
static const char *escape(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '|':
		return "\\|";
	case '\\':
		return "\\\\";
	case '`':
		return "\\`";
	case '*':
		return "\\*";
	case '_':
		return "\\_";
	case '~':
		return "\\~";
	case '[':
		return "\\[";
	case ']':
		return "\\]";
	case '$':
		return "\\$";
	default:
		return NULL;
	}
}

static void fact(struct lab_sheet *s, const char *term, const char *text)
{
	if (*text)
		lab_put(s, "| %s | %s |\n", term, text);
}

static void header(struct lab_sheet *s, const struct lab_findings *f)
{
	const struct lab_run *r = &f->run;
	char text[LAB_SHORT];

	lab_put(s, "# Locks compared\n\n");
	if (r->interrupted)
		lab_put(s, "**Interrupted: what is missing was not reached.**"
			   "\n\n");
	lab_put(s, "| run | |\n| --- | --- |\n");
	fact(s, "date", lab_say_date(text, r->began));
	fact(s, "took", lab_say_ms(text, (double)r->took_ms));
	fact(s, "machine", r->machine);
	fact(s, "busy", lab_say_busy(text, r));
	fact(s, "dlock", r->version);
	fact(s, "options", r->options);
	fact(s, "seed", lab_say_seed(text, r->seed));
	fact(s, "kind",
	     r->lab ? "private servers, faults included" :
		      "servers as given, no faults");
	for (int i = LAB_NOUTCOMES - 1; i >= 0; i--) {
		enum lab_outcome o = (enum lab_outcome)i;

		lab_put(s, "| %s %s | %zu |\n", lab_say_symbol(o),
			lab_outcome_words(o), lab_count_outcome(f, o));
	}
}

static void matrix(struct lab_sheet *s, const struct lab_findings *f)
{
	char text[LAB_SHORT];

	lab_put(s, "\n## Verdicts\n\n| behaviour |");
	for (size_t i = 0; i < f->n_stores; i++)
		lab_put(s, " %s |", f->stores[i].name);
	lab_put(s, "\n| --- |");
	for (size_t i = 0; i < f->n_stores; i++)
		lab_put(s, " --- |");
	lab_put(s, "\n");
	for (size_t b = 0; b < f->n_behaviours; b++) {
		lab_put(s, "| %s%s |", f->behaviours[b].title,
			f->behaviours[b].fault ? " (fault)" : "");
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

static void all_stores(struct lab_sheet *s, const struct lab_findings *f)
{
	char text[256];

	lab_put(s, "\n## Stores\n\n"
		   "| store | address | server | settings | declares | lease "
		   "|\n| --- | --- | --- | --- | --- | ---: |\n");
	for (size_t i = 0; i < f->n_stores; i++) {
		const struct lab_store *it = &f->stores[i];

		lab_put(s, "| %s | %s | %s | %s%s%s | ", it->name, it->uri,
			it->server, it->settings,
			*it->trouble ? " nothing was run: " : "", it->trouble);
		lab_put(s, "%s | ",
			it->foreign ? "nothing: not a store of dlock" :
				      lab_say_caps(text, it->caps));
		lab_put(s, "%s |\n",
			it->foreign ? "its own" :
			it->ttl_ms  ? lab_say_ms(text, (double)it->ttl_ms) :
				      "none");
	}
}

static void figure(struct lab_sheet *s, const struct lab_findings *f,
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

static void figures(struct lab_sheet *s, const struct lab_findings *f)
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
				figure(s, f, &f->figures[j]);
	}
}

static void event(struct lab_sheet *s, const char *who, const char *what,
		  double from, double to)
{
	char text[LAB_SHORT];

	lab_put(s, "| %s | %s | %s |", who, what, lab_say_ms(text, from));
	lab_put(s, " %s |\n", to >= from ? lab_say_ms(text, to) : "");
}

static void timeline(struct lab_sheet *s, const struct lab_findings *f,
		     const struct lab_timeline *t)
{
	char text[2 * LAB_SHORT], token[LAB_SHORT];

	lab_put(s,
		"\n### %s, %s\n\n"
		"| who | what | from | to |\n| --- | --- | ---: | ---: |\n",
		f->stores[t->store].name, f->behaviours[t->behaviour].title);
	event(s, "fault", t->fault, 0, t->fault_to < 0 ? NAN : t->fault_to);
	for (size_t i = 0; i < t->n_beliefs; i++) {
		const struct lab_belief *b = &t->beliefs[i];

		snprintf(text, sizeof(text), "believed to hold%s%s%s",
			 b->shared ? ", shared" : "",
			 b->token ? ", token " : "",
			 b->token ? lab_say_seed(token, b->token) : "");
		event(s, t->parties[b->party], text, b->from, b->to);
	}
	for (size_t i = 0; i < t->n_marks; i++)
		event(s, t->parties[t->marks[i].party], t->marks[i].text,
		      t->marks[i].at, NAN);
	for (size_t i = 0; i < t->n_overlaps; i++)
		event(s, "two at once", "OVERLAP", t->overlaps[i].from,
		      t->overlaps[i].to);
}

/* What is plainly kept needs no words. */
static void details(struct lab_sheet *s, const struct lab_findings *f)
{
	lab_put(s, "\n## Details\n\n"
		   "| behaviour | store | verdict | in words |\n"
		   "| --- | --- | --- | --- |\n");
	for (size_t b = 0; b < f->n_behaviours; b++)
		for (size_t i = 0; i < f->n_stores; i++) {
			const struct lab_finding *c = lab_finding(f, i, b);

			if (!*c->why && !*c->log)
				continue;
			lab_put(s, "| %s | %s | %s | %s%s%s |\n",
				f->behaviours[b].title, f->stores[i].name,
				lab_outcome_words(c->outcome), c->why,
				*c->log ? " histories: " : "", c->log);
		}
	lab_put(s, "\n## What is to be kept\n\n"
		   "| behaviour | guarantee |\n| --- | --- |\n");
	for (size_t b = 0; b < f->n_behaviours; b++)
		lab_put(s, "| %s | %s |\n", f->behaviours[b].title,
			f->behaviours[b].guarantee);
}

int lab_write_markdown(FILE *out, const struct lab_findings *f)
{
	struct lab_sheet s = { .out = out, .escape = escape };

	header(&s, f);
	matrix(&s, f);
	all_stores(&s, f);
	figures(&s, f);
	if (f->n_timelines)
		lab_put(&s, "\n## Timelines\n\nWho believed to hold when, "
			    "since the fault began.\n");
	for (size_t i = 0; i < f->n_timelines; i++)
		timeline(&s, f, &f->timelines[i]);
	details(&s, f);
	return lab_sheet_end(&s);
}
