/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for a terminal, in at most WIDTH columns. */
#include "lab/report/impl.h"
#include "lab/report/report.h"

#include <inttypes.h>
#include <string.h>

#define WIDTH 100
#define TITLE 30
#define CELL 11
#define NAME 20
#define ACROSS ((WIDTH - TITLE) / CELL)

/* ---- Text ---------------------------------------------------------------- */

/* Print `text` in lines of at most WIDTH, later lines indented like the
 * first. */
static void put_wrapped(struct lab_sheet *s, int indent, const char *text)
{
	size_t room = (size_t)(WIDTH - indent);
	char line[WIDTH + 1];

	while (*text) {
		size_t n = strlen(text);

		if (n > room) {
			for (n = room; n > 0 && text[n] != ' ';)
				n--;
			if (n == 0)
				n = room;
		}
		snprintf(line, sizeof(line), "%*s%.*s", indent, "", (int)n,
			 text);
		lab_put(s, "%s\n", line);
		text += n;
		while (*text == ' ')
			text++;
	}
}

static void put_padded(struct lab_sheet *s, const char *text, size_t width)
{
	size_t n = 0;

	lab_put(s, "%s", text);
	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	for (; n < width; n++)
		lab_put_raw(s, " ");
}

static void put_store(struct lab_sheet *s, const struct lab_store *it)
{
	char line[2048], lease[40] = "";

	if (it->ttl_ms)
		snprintf(lease, sizeof(lease), "; leases of %g s",
			 (double)it->ttl_ms / 1e3);
	snprintf(line, sizeof(line), "%s: %s%s%s%s%s%s%s%s", it->name, it->uri,
		 *it->server ? ", " : "", it->server, *it->settings ? "; " : "",
		 it->settings, lease, *it->trouble ? "; NOT TRIED: " : "",
		 it->trouble);
	put_wrapped(s, 0, line);
}

static void put_run(struct lab_sheet *s, const struct lab_findings *f)
{
	const struct lab_run *r = &f->run;
	char date[LAB_SHORT], busy[LAB_SHORT], line[2048];

	snprintf(line, sizeof(line),
		 "dlock %s, %.16s UTC, %.1f s, seed %" PRIu64 "%s", r->version,
		 lab_say_date(date, r->began), (double)r->took_ms / 1e3,
		 r->seed, r->interrupted ? ", INTERRUPTED" : "");
	put_wrapped(s, 0, line);
	snprintf(line, sizeof(line), "%s, busy for %s", r->machine,
		 lab_say_busy(busy, r));
	put_wrapped(s, 0, line);
	lab_put(s, "\n");
	for (size_t i = 0; i < f->n_stores; i++)
		put_store(s, &f->stores[i]);
}

/* ---- The matrix ---------------------------------------------------------- */

static const char *short_words(char text[LAB_SHORT],
			       const struct lab_finding *c)
{
	static const char *const words[] = {
		[LAB_OUTCOME_NOT_RUN] = "-",
		[LAB_OUTCOME_KEPT] = "kept",
		[LAB_OUTCOME_REFUSED] = "refused",
		[LAB_OUTCOME_LOSS] = "loss",
		[LAB_OUTCOME_BROKEN] = "broken",
		[LAB_OUTCOME_LIE] = "BROKEN!",
	};

	if (c->outcome != LAB_OUTCOME_LOSS || c->found_ms < 0)
		return words[c->outcome];
	snprintf(text, LAB_SHORT, "loss %" PRId64 "ms", c->found_ms);
	return text;
}

static void put_block(struct lab_sheet *s, const struct lab_findings *f,
		      size_t from, size_t to)
{
	char text[LAB_SHORT];

	lab_put(s, "\n");
	put_padded(s, "SCENARIO", TITLE);
	for (size_t i = from; i < to; i++)
		put_padded(s, lab_say_short(text, f->stores[i].name, CELL - 1),
			   i + 1 < to ? CELL : 0);
	for (size_t b = 0; b < f->n_scenarios; b++) {
		lab_put(s, "\n");
		put_padded(s, f->scenarios[b].title, TITLE);
		for (size_t i = from; i < to; i++)
			put_padded(s, short_words(text, lab_finding(f, i, b)),
				   i + 1 < to ? CELL : 0);
	}
	lab_put(s, "\n");
}

static void put_matrix(struct lab_sheet *s, const struct lab_findings *f)
{
	for (size_t i = 0; i < f->n_stores; i += ACROSS)
		put_block(s, f, i,
			  i + ACROSS < f->n_stores ? i + ACROSS : f->n_stores);
	lab_put(s,
		"\nkept     it does what it declares\n"
		"refused  it does not declare this, and refuses a client that "
		"requires it\n"
		"loss     it lost a hold, as it declares it may; the holder "
		"learned of it after so long\n"
		"broken   it does not do this, and has not declared it\n"
		"BROKEN!  it declares this and does not do it\n"
		"-        not run\n");
}

/* ---- Why ----------------------------------------------------------------- */

static bool same(const struct lab_findings *f, size_t s, size_t a, size_t b)
{
	const struct lab_finding *c = lab_finding(f, s, a);
	const struct lab_finding *d = lab_finding(f, s, b);

	return c->outcome == d->outcome && !strcmp(c->why, d->why);
}

/* Print a reason that several scenarios share once, with all scenarios. */
static void put_reason(struct lab_sheet *s, const struct lab_findings *f,
		       size_t store, size_t b)
{
	char line[2048];
	size_t n;

	for (size_t i = 0; i < b; i++)
		if (same(f, store, i, b))
			return;
	n = (size_t)snprintf(line, sizeof(line), "%s, %s",
			     f->stores[store].name, f->scenarios[b].title);
	for (size_t i = b + 1; i < f->n_scenarios && n < sizeof(line) / 2; i++)
		if (same(f, store, i, b))
			n += (size_t)snprintf(line + n, sizeof(line) - n,
					      ", %s", f->scenarios[i].title);
	snprintf(line + n, sizeof(line) - n, ": %s",
		 lab_finding(f, store, b)->why);
	put_wrapped(s, 2, line);
}

static void put_why(struct lab_sheet *s, const struct lab_findings *f,
		    enum lab_outcome outcome)
{
	bool any = false;

	for (size_t i = 0; i < f->n_stores; i++)
		for (size_t b = 0; b < f->n_scenarios; b++) {
			const struct lab_finding *c = lab_finding(f, i, b);

			if (c->outcome != outcome || !*c->why)
				continue;
			if (!any)
				lab_put(s, "\n%s\n",
					lab_outcome_words(outcome));
			any = true;
			put_reason(s, f, i, b);
		}
}

/* ---- Figures ------------------------------------------------------------- */

/* Print three significant digits, in eight columns. */
static void put_number(struct lab_sheet *s, double x)
{
	char text[LAB_SHORT];

	if (x < 0)
		snprintf(text, sizeof(text), " %8s", "-");
	else
		snprintf(text, sizeof(text), " %8.*f",
			 x >= 100 ? 0 :
			 x >= 10  ? 1 :
				    2,
			 x);
	lab_put(s, "%s", text);
}

static void put_figure(struct lab_sheet *s, const struct lab_findings *f,
		       const struct lab_figure *g)
{
	char text[LAB_SHORT];

	lab_put(s, "  ");
	put_padded(s, lab_say_short(text, f->stores[g->store].name, NAME - 1),
		   NAME);
	snprintf(text, sizeof(text), " %8" PRIu64, g->samples);
	lab_put(s, "%s", text);
	put_number(s, g->p50);
	put_number(s, g->p99);
	put_number(s, g->max);
	if (g->floor_p50 >= 0) {
		put_number(s, g->floor_p50);
		lab_put(s, " %s", g->floor);
	}
	lab_put(s, "\n");
}

static void put_figures(struct lab_sheet *s, const struct lab_findings *f)
{
	if (f->n_figures)
		lab_put(s, "\nFIGURES                 SAMPLES      P50      P99"
			   "      MAX    FLOOR\n");
	for (size_t i = 0; i < f->n_figures; i++) {
		const struct lab_figure *g = &f->figures[i];

		if (!lab_figure_leads(f, i))
			continue;
		lab_put(s, "\n%s%s%s%s\n", g->name, *g->unit ? ", " : "",
			g->unit, g->more_is_better ? " (more is better)" : "");
		for (size_t j = i; j < f->n_figures; j++)
			if (lab_figure_same(f, i, j))
				put_figure(s, f, &f->figures[j]);
	}
}

int lab_write_table(FILE *out, const struct lab_findings *f)
{
	struct lab_sheet s = { .out = out };

	put_run(&s, f);
	put_matrix(&s, f);
	for (int i = LAB_NOUTCOMES - 1; i >= 0; i--)
		put_why(&s, f, (enum lab_outcome)i);
	put_figures(&s, f);
	return lab_sheet_end(&s);
}
