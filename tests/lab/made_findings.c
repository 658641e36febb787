/* SPDX-License-Identifier: Apache-2.0 */
#include "made_findings.h"

#include <criterion/criterion.h>
#include <math.h>

#define BEHAVIOURS 8

static const char *name(struct lab_findings *f, const char *text,
			const char *plain, size_t i)
{
	return text ? text : lab_findings_text(f, "%s %zu", plain, i);
}

static void tables(struct lab_findings *f, size_t stores, const char *text)
{
	for (size_t i = 0; i < stores; i++) {
		struct lab_store *s = lab_findings_store(f);

		s->name = name(f, text, "store", i);
		s->uri = name(f, text, "uri", i);
		s->server = name(f, text, "server", i);
		s->settings = name(f, text, "settings", i);
		s->trouble = name(f, text, "trouble", i);
		s->caps = 0xffffffff;
		s->ttl_ms = (int64_t)i * 1000;
	}
	for (size_t i = 0; i < BEHAVIOURS; i++) {
		struct lab_about *b = lab_findings_scenario(f);

		b->id = name(f, text, "id", i);
		b->title = name(f, text, "title", i);
		b->guarantee = name(f, text, "guarantee", i);
		b->fault = i % 2 == 1;
	}
	cr_assert(lab_findings_cells(f));
}

static void measure(struct lab_findings *f, size_t store, const char *text)
{
	static const char *const units[] = { "us", "ms", "1/s" };
	double values[300];

	for (size_t k = 0; k < 3; k++) {
		struct lab_figure *g = lab_findings_figure(f, store, k);

		for (size_t i = 0; i < 300; i++)
			values[i] = (double)((store + 1) * (i + 1));
		g->id = units[k];
		g->name = name(f, text, "figure", k);
		g->unit = units[k];
		g->floor = name(f, text, "floor", k);
		g->floor_p50 = k == 0 ? 17 : -1;
		lab_figure_samples(g, values, 300);
	}
}

static void draw(struct lab_findings *f, size_t store, const char *text)
{
	struct lab_timeline *t = lab_findings_timeline(f, store, 1);

	t->fault = name(f, text, "fault", store);
	t->from = -100;
	t->to = 20000;
	for (size_t i = 0; i < 60; i++) {
		size_t p = lab_timeline_participant(
			f, t, name(f, text, "worker", i % 3));
		double from = (double)i * 300 - 400;

		lab_timeline_belief(f, t,
				    (struct lab_belief){ p, from, from + 400,
							 UINT64_MAX - i,
							 i % 2 });
		lab_timeline_mark(f, t, p, from + 400,
				  i % 5 ? name(f, text, "mark", i) : "LOST");
		lab_timeline_overlap(f, t, from + 300, from + 400);
	}
}

struct lab_findings *made_findings(size_t stores, const char *text)
{
	struct lab_findings *f = lab_findings_new();

	cr_assert(f);
	tables(f, stores, text);
	f->run.version = f->run.machine = f->run.options = name(f, text, "r",
								0);
	f->run.interrupted = true;
	for (size_t s = 0; s < stores; s++) {
		for (size_t b = 0; b < BEHAVIOURS; b++) {
			struct lab_finding *c = lab_finding(f, s, b);

			c->outcome =
				(enum lab_outcome)((s + b) % LAB_NOUTCOMES);
			c->why = name(f, text, "why", s);
			c->log = name(f, text, "log", s);
			c->found_ms = (int64_t)(b % 3) * 700 - 1;
		}
		measure(f, s, text);
		draw(f, s, text);
	}
	cr_assert(lab_findings_ok(f));
	return f;
}

/* Leave a belief of each worker, a loss and `overlaps` overlaps of the
 * timeline. */
static void shorten(struct lab_timeline *t, size_t overlaps)
{
	t->fault_to = 220;
	t->to = 2000;
	t->n_beliefs = 2;
	t->beliefs[0].to = 962;
	t->n_marks = overlaps;
	t->marks[0] = (struct lab_mark){ 0, 962, "LOST" };
	t->n_overlaps = overlaps;
	t->overlaps[0] = (struct lab_overlap){ 241, 962 };
}

struct lab_findings *dated_findings(void)
{
	struct lab_findings *f = made_findings(2, NULL);

	f->run.began = 1763731200;
	f->run.seed = 20251121;
	f->run.lab = f->run.quick = true;
	f->stores[1].foreign = true;
	f->stores[1].caps = 0;
	for (size_t i = 0; i < 3; i++)
		f->figures[i] = f->figures[2 * i]; /* the first store's */
	f->n_figures = 3;
	f->figures[1].has_curve = f->figures[2].has_curve = false;
	for (size_t i = 0; i < 2; i++)
		shorten(&f->timelines[i], 1 - i);
	return f;
}

struct lab_findings *made_nonsense(void)
{
	static const double values[] = {
		NAN, INFINITY, -INFINITY, -1, 0, 1e300
	};
	struct lab_findings *f = lab_findings_new();
	struct lab_timeline *t;

	cr_assert(f);
	tables(f, 1, NULL);
	f->run.began = INT64_MAX;
	for (size_t i = 0; i < 12; i++) {
		struct lab_figure *g = lab_findings_figure(f, 0, i % 2);

		g->id = lab_findings_text(f, "id%zu", i);
		g->unit = i % 2 ? "ms" : "us";
		g->samples = i < 6 ? i : UINT64_MAX;
		g->has_curve = true;
		g->p50 = g->p99 = g->max = g->floor_p50 = values[i % 6];
		for (size_t j = 0; j < LAB_CURVE; j++)
			g->curve[j] = values[(i + j) % 6];
	}
	for (size_t i = 0; i < 36; i++) {
		double from = values[i / 6], to = values[i % 6];

		t = lab_findings_timeline(f, 0, 1);
		t->from = from;
		t->to = to;
		t->fault_to = to;
		lab_timeline_participant(f, t, "A");
		lab_timeline_belief(f, t,
				    (struct lab_belief){ 0, from, to, 0, 0 });
		lab_timeline_mark(f, t, 0, from, "LOST");
		lab_timeline_overlap(f, t, from, to);
	}
	lab_findings_timeline(f, 0, 1);
	cr_assert(lab_findings_ok(f));
	return f;
}
