/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"
#include "message.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define WIDTH 100
#define TITLE 30
#define CELL 11
#define ACROSS ((WIDTH - TITLE) / CELL)

/* ---- Text ---------------------------------------------------------------- */

/* `text` in lines of at most WIDTH, the later ones indented like the first.
 * What strangers say is escaped. */
static void print_wrapped(FILE *out, int indent, const char *text)
{
	char safe[2048];
	const char *at = safe;
	size_t room = (size_t)(WIDTH - indent);

	escape(safe, sizeof(safe), text);
	while (*at) {
		size_t n = strlen(at);

		if (n > room) {
			for (n = room; n > 0 && at[n] != ' ';)
				n--;
			if (n == 0)
				n = room;
		}
		fprintf(out, "%*s%.*s\n", indent, "", (int)n, at);
		at += n;
		while (*at == ' ')
			at++;
	}
}

/* Of most trials; a session's time in ZooKeeper. */
static const char *lease_words(const struct lab_store *s, char *out,
			       size_t size)
{
	*out = '\0';
	if (s->ttl_ms)
		snprintf(out, size, "; leases of %g s",
			 (double)s->ttl_ms / 1e3);
	return out;
}

static void print_run(FILE *out, const struct lab_findings *f)
{
	const struct lab_run *r = &f->run;
	char date[40] = "";
	char line[2048];
	char lease[40];
	struct tm tm;
	time_t at = (time_t)r->began;

	if (gmtime_r(&at, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &tm);
	snprintf(line, sizeof(line), "dlock %s, %s, %.1f s, seed %" PRIu64 "%s",
		 r->version, date, (double)r->took_ms / 1e3, r->seed,
		 r->interrupted ? ", INTERRUPTED" : "");
	print_wrapped(out, 0, line);
	snprintf(line, sizeof(line), "%s, busy for %d %% of the time",
		 r->machine, r->strain);
	print_wrapped(out, 0, line);
	fputc('\n', out);
	for (size_t i = 0; i < f->n_stores; i++) {
		const struct lab_store *s = &f->stores[i];

		snprintf(line, sizeof(line), "%s: %s%s%s%s%s%s%s%s", s->name,
			 s->uri, *s->server ? ", " : "", s->server,
			 *s->settings ? "; " : "", s->settings,
			 lease_words(s, lease, sizeof(lease)),
			 *s->trouble ? "; NOT TRIED: " : "", s->trouble);
		print_wrapped(out, 0, line);
	}
}

/* ---- The matrix ---------------------------------------------------------- */

static void short_words(const struct lab_finding *c, char *out, size_t size)
{
	static const char *const words[] = {
		[LAB_OUTCOME_NOT_RUN] = "-",
		[LAB_OUTCOME_KEPT] = "kept",
		[LAB_OUTCOME_REFUSED] = "refused",
		[LAB_OUTCOME_LOSS] = "loss",
		[LAB_OUTCOME_BROKEN] = "broken",
		[LAB_OUTCOME_LIE] = "BROKEN!",
	};

	if (c->outcome == LAB_OUTCOME_LOSS && c->found_ms >= 0)
		snprintf(out, size, "loss %" PRId64 "ms", c->found_ms);
	else
		snprintf(out, size, "%s", words[c->outcome]);
}

static void print_block(FILE *out, const struct lab_findings *f, size_t from,
			size_t to)
{
	char cell[32];

	fprintf(out, "\n%-*s", TITLE, "BEHAVIOUR");
	for (size_t s = from; s < to; s++) {
		escape(cell, CELL, f->stores[s].name);
		fprintf(out, s + 1 < to ? "%-*s" : "%.*s", CELL, cell);
	}
	fputc('\n', out);
	for (size_t b = 0; b < f->n_behaviours; b++) {
		fprintf(out, "%-*s", TITLE, f->behaviours[b].title);
		for (size_t s = from; s < to; s++) {
			short_words(lab_finding(f, s, b), cell, sizeof(cell));
			fprintf(out, s + 1 < to ? "%-*s" : "%.*s", CELL, cell);
		}
		fputc('\n', out);
	}
}

static void print_matrix(FILE *out, const struct lab_findings *f)
{
	for (size_t s = 0; s < f->n_stores; s += ACROSS)
		print_block(out, f, s,
			    s + ACROSS < f->n_stores ? s + ACROSS :
						       f->n_stores);
	fputs("\nkept     it does what it declares\n"
	      "refused  it does not declare this, and refuses who asks for it\n"
	      "loss     it lost a hold, as it declares it may; the holder knew "
	      "after so long\n"
	      "broken   it does not do this, and has not declared it\n"
	      "BROKEN!  it declares this and does not do it\n"
	      "-        not run\n",
	      out);
}

/* ---- Why ----------------------------------------------------------------- */

static bool same(const struct lab_findings *f, size_t s, size_t a, size_t b)
{
	const struct lab_finding *c = lab_finding(f, s, a);
	const struct lab_finding *d = lab_finding(f, s, b);

	return c->outcome == d->outcome && !strcmp(c->why, d->why);
}

/* A reason that several behaviours share is told once, with all of them. */
static void print_reason(FILE *out, const struct lab_findings *f, size_t s,
			 size_t b)
{
	char line[2048];
	size_t n;

	for (size_t i = 0; i < b; i++)
		if (same(f, s, i, b))
			return;
	n = (size_t)snprintf(line, sizeof(line), "%s, %s", f->stores[s].name,
			     f->behaviours[b].title);
	for (size_t i = b + 1; i < f->n_behaviours && n < sizeof(line) / 2; i++)
		if (same(f, s, i, b))
			n += (size_t)snprintf(line + n, sizeof(line) - n,
					      ", %s", f->behaviours[i].title);
	snprintf(line + n, sizeof(line) - n, ": %s", lab_finding(f, s, b)->why);
	print_wrapped(out, 2, line);
}

static void print_why(FILE *out, const struct lab_findings *f,
		      enum lab_outcome outcome)
{
	bool any = false;

	for (size_t s = 0; s < f->n_stores; s++) {
		for (size_t b = 0; b < f->n_behaviours; b++) {
			const struct lab_finding *c = lab_finding(f, s, b);

			if (c->outcome != outcome || !*c->why)
				continue;
			if (!any)
				fprintf(out, "\n%s\n",
					lab_outcome_words(outcome));
			any = true;
			print_reason(out, f, s, b);
		}
	}
}

/* ---- Figures ------------------------------------------------------------- */

/* Three digits that count, in eight columns. */
static void print_number(FILE *out, double x)
{
	if (x < 0)
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %8.*f", x >= 100 ? 0 : x >= 10 ? 1 : 2, x);
}

static bool is_first(const struct lab_findings *f, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(f->figures[j].id, f->figures[i].id))
			return false;
	return true;
}

static void print_figure(FILE *out, const struct lab_findings *f, size_t i)
{
	char store[32];

	fprintf(out, "\n%s%s%s%s\n", f->figures[i].name,
		*f->figures[i].unit ? ", " : "", f->figures[i].unit,
		f->figures[i].more_is_better ? " (more is better)" : "");
	for (size_t s = 0; s < f->n_stores; s++) {
		const struct lab_figure *g = lab_figure(f, s, f->figures[i].id);

		if (!g)
			continue;
		escape(store, 20, f->stores[s].name);
		fprintf(out, "  %-20s %8" PRIu64, store, g->samples);
		print_number(out, g->p50);
		print_number(out, g->p99);
		print_number(out, g->max);
		if (g->floor_p50 >= 0) {
			print_number(out, g->floor_p50);
			fprintf(out, " %s", g->floor);
		}
		fputc('\n', out);
	}
}

static void print_figures(FILE *out, const struct lab_findings *f)
{
	if (f->n_figures)
		fprintf(out, "\n%-22s %8s %8s %8s %8s %8s\n", "FIGURES",
			"SAMPLES", "P50", "P99", "MAX", "FLOOR");
	for (size_t i = 0; i < f->n_figures; i++)
		if (is_first(f, i))
			print_figure(out, f, i);
}

void compare_print(FILE *out, const struct lab_findings *f)
{
	print_run(out, f);
	print_matrix(out, f);
	for (int i = LAB_NOUTCOMES - 1; i >= 0; i--)
		print_why(out, f, (enum lab_outcome)i);
	print_figures(out, f);
}
