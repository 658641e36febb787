/* SPDX-License-Identifier: Apache-2.0 */
/* The document described in docs/compare.md: a line for each thing in it. */
#include "lab/report/impl.h"
#include "lab/report/report.h"

#include <dlock/dlock.h>

#define SCHEMA 1 /* to grow when readers of the old document would err */

static const struct lab_escape json_escapes[] = {
	{ '"', "\\\"" },
	{ '\\', "\\\\" },
	{ 0, NULL },
};

static const char *truth(bool is)
{
	return is ? "true" : "false";
}

/* Return the separator before element `i` of a list. */
static const char *next(size_t i)
{
	return i ? ",\n  " : "\n  ";
}

static void put_run(struct lab_sheet *s, const struct lab_run *r)
{
	lab_put(s,
		"{\"began\": %jd, \"took_ms\": %jd, \"dlock\": \"%s\", "
		"\"machine\": \"%s\", \"busy_percent\": %d, \"options\": "
		"\"%s\", \"seed\": %ju, \"quick\": %s, \"lab\": %s, "
		"\"interrupted\": %s}",
		(intmax_t)r->began, (intmax_t)r->took_ms, r->version,
		r->machine, r->busy_percent, r->options, (uintmax_t)r->seed,
		truth(r->quick), truth(r->lab), truth(r->interrupted));
}

static void put_store(struct lab_sheet *s, const struct lab_store *it)
{
	bool any = false;

	lab_put(s,
		"{\"name\": \"%s\", \"uri\": \"%s\", \"server\": \"%s\", "
		"\"settings\": \"%s\", \"trouble\": \"%s\", \"caps\": [",
		it->name, it->uri, it->server, it->settings, it->trouble);
	for (uint32_t bit = 1; bit; bit <<= 1)
		if (it->caps & bit && dlock_cap_name(bit)) {
			lab_put_raw(s, any ? ", " : "");
			lab_put(s, "\"%s\"", dlock_cap_name(bit));
			any = true;
		}
	lab_put(s, "], \"ttl_ms\": %jd, \"foreign\": %s}", (intmax_t)it->ttl_ms,
		truth(it->foreign));
}

static void put_scenario(struct lab_sheet *s, const struct lab_about *b)
{
	lab_put(s,
		"{\"id\": \"%s\", \"title\": \"%s\", \"guarantee\": \"%s\", "
		"\"fault\": %s}",
		b->id, b->title, b->guarantee, truth(b->fault));
}

/* Begin an element that belongs to a store and a scenario. */
static void put_place(struct lab_sheet *s, const struct lab_findings *f,
		      size_t store, size_t scenario)
{
	lab_put(s, "{\"store\": \"%s\", \"scenario\": \"%s\", ",
		f->stores[store].name, f->scenarios[scenario].id);
}

static void put_finding(struct lab_sheet *s, const struct lab_finding *c)
{
	lab_put(s, "\"verdict\": \"%s\", \"why\": \"%s\", \"found_ms\": ",
		lab_outcome_key(c->outcome), c->why);
	if (c->found_ms < 0)
		lab_put(s, "null");
	else
		lab_put(s, "%jd", (intmax_t)c->found_ms);
	lab_put(s, ", \"took_ms\": %jd}", (intmax_t)c->took_ms);
}

static void put_figure(struct lab_sheet *s, const struct lab_figure *g)
{
	lab_put(s,
		"\"id\": \"%s\", \"name\": \"%s\", \"unit\": \"%s\", "
		"\"more_is_better\": %s, \"samples\": %jd, \"p50\": %g, "
		"\"p99\": %g, \"max\": %g, \"floor_p50\": ",
		g->id, g->name, g->unit, truth(g->more_is_better),
		(intmax_t)g->samples, g->p50, g->p99, g->max);
	if (g->floor_p50 < 0)
		lab_put(s, "null");
	else
		lab_put(s, "%g", g->floor_p50);
	lab_put(s, ", \"floor\": \"%s\", \"curve\": [", g->floor);
	for (size_t i = 0; g->has_curve && i < LAB_CURVE; i++)
		lab_put(s, "%s[%g, %g]", i ? ", " : "", lab_curve_at(i),
			g->curve[i]);
	lab_put(s, "]}");
}

static void put_timeline(struct lab_sheet *s, const struct lab_timeline *t)
{
	lab_put(s, "\"fault\": \"%s\", \"fault_to\": ", t->fault);
	if (t->fault_to < 0)
		lab_put(s, "null");
	else
		lab_put(s, "%g", t->fault_to);
	lab_put(s, ", \"beliefs\": [");
	for (size_t i = 0; i < t->n_beliefs; i++) {
		const struct lab_belief *b = &t->beliefs[i];

		lab_put(s,
			"%s{\"worker\": \"%s\", \"from\": %g, \"to\": %g, "
			"\"token\": %ju, \"shared\": %s}",
			i ? ", " : "", t->participants[b->participant], b->from,
			b->to, (uintmax_t)b->token, truth(b->shared));
	}
	lab_put(s, "], \"marks\": [");
	for (size_t i = 0; i < t->n_marks; i++)
		lab_put(s,
			"%s{\"worker\": \"%s\", \"at\": %g, \"text\": \"%s\"}",
			i ? ", " : "", t->participants[t->marks[i].participant],
			t->marks[i].at, t->marks[i].text);
	lab_put(s, "], \"overlaps\": [");
	for (size_t i = 0; i < t->n_overlaps; i++)
		lab_put(s, "%s{\"from\": %g, \"to\": %g}", i ? ", " : "",
			t->overlaps[i].from, t->overlaps[i].to);
	lab_put(s, "]}");
}

static void put_measured(struct lab_sheet *s, const struct lab_findings *f)
{
	lab_put(s, "],\n\"figures\": [");
	for (size_t i = 0; i < f->n_figures; i++) {
		lab_put_raw(s, next(i));
		put_place(s, f, f->figures[i].store, f->figures[i].scenario);
		put_figure(s, &f->figures[i]);
	}
	lab_put(s, "],\n\"timelines\": [");
	for (size_t i = 0; i < f->n_timelines; i++) {
		lab_put_raw(s, next(i));
		put_place(s, f, f->timelines[i].store,
			  f->timelines[i].scenario);
		put_timeline(s, &f->timelines[i]);
	}
	lab_put(s, "]}\n");
}

int lab_write_json(FILE *out, const struct lab_findings *f)
{
	struct lab_sheet s = { .out = out,
			       .escapes = json_escapes,
			       .codes = true };

	lab_put(&s, "{\"schema\": %d, \"worst\": \"%s\",\n\"run\": ", SCHEMA,
		lab_outcome_key(lab_findings_worst(f)));
	put_run(&s, &f->run);
	lab_put(&s, ",\n\"stores\": [");
	for (size_t i = 0; i < f->n_stores; i++) {
		lab_put_raw(&s, next(i));
		put_store(&s, &f->stores[i]);
	}
	lab_put(&s, "],\n\"scenarios\": [");
	for (size_t i = 0; i < f->n_scenarios; i++) {
		lab_put_raw(&s, next(i));
		put_scenario(&s, &f->scenarios[i]);
	}
	lab_put(&s, "],\n\"findings\": [");
	for (size_t i = 0; i < f->n_scenarios * f->n_stores; i++) {
		size_t scenario = i / f->n_stores, store = i % f->n_stores;

		lab_put_raw(&s, next(i));
		put_place(&s, f, store, scenario);
		put_finding(&s, lab_finding(f, store, scenario));
	}
	put_measured(&s, f);
	return lab_sheet_end(&s);
}
