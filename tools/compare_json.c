/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"
#include "print.h"

#include <dlock/dlock.h>

#define SCHEMA 1 /* docs/compare.md; a new number when old readers would err */

/* What goes wrong in between leaves a NULL, and packing that fails. */

static json_t *caps(uint32_t bits)
{
	json_t *list = json_array();

	for (uint32_t bit = 1; bit; bit <<= 1)
		if (bits & bit && dlock_cap_name(bit))
			json_array_append_new(list,
					      json_string(dlock_cap_name(bit)));
	return list;
}

static json_t *store(const struct lab_store *s)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:b}", "name",
			 json_text(s->name), "uri", json_text(s->uri), "server",
			 json_text(s->server), "settings",
			 json_text(s->settings), "trouble",
			 json_text(s->trouble), "caps", caps(s->caps), "ttl_ms",
			 (json_int_t)s->ttl_ms, "foreign", s->foreign);
}

static json_t *behaviour(const struct lab_about *b)
{
	return json_pack("{s:s, s:s, s:s, s:b}", "id", b->id, "title", b->title,
			 "guarantee", b->guarantee, "fault", b->fault);
}

static json_t *finding(const struct lab_findings *f, size_t s, size_t b)
{
	const struct lab_finding *c = lab_finding(f, s, b);
	json_t *found = c->found_ms < 0 ? json_null() :
					  json_integer(c->found_ms);

	return json_pack("{s:o, s:s, s:s, s:o, s:o, s:I}", "store",
			 json_text(f->stores[s].name), "behaviour",
			 f->behaviours[b].id, "verdict",
			 lab_outcome_key(c->outcome), "why", json_text(c->why),
			 "found_ms", found, "took_ms", (json_int_t)c->took_ms);
}

static json_t *curve(const struct lab_figure *g)
{
	json_t *list = json_array();

	for (size_t i = 0; g->has_curve && i < LAB_CURVE; i++)
		json_array_append_new(list, json_pack("[f, f]", lab_curve_at(i),
						      g->curve[i]));
	return list;
}

static json_t *figure(const struct lab_findings *f, const struct lab_figure *g)
{
	json_t *floor = g->floor_p50 < 0 ? json_null() :
					   json_real(g->floor_p50);

	return json_pack(
		"{s:o, s:s, s:s, s:s, s:s, s:b, s:I, s:f, s:f, s:f, s:o, s:s, "
		"s:o}",
		"store", json_text(f->stores[g->store].name), "behaviour",
		f->behaviours[g->behaviour].id, "id", g->id, "name", g->name,
		"unit", g->unit, "more_is_better", g->more_is_better, "samples",
		(json_int_t)g->samples, "p50", g->p50, "p99", g->p99, "max",
		g->max, "floor_p50", floor, "floor", g->floor, "curve",
		curve(g));
}

static json_t *beliefs(const struct lab_timeline *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_beliefs; i++) {
		const struct lab_belief *b = &t->beliefs[i];

		json_array_append_new(
			list,
			json_pack("{s:o, s:f, s:f, s:I, s:b}", "party",
				  json_text(t->parties[b->party]), "from",
				  b->from, "to", b->to, "token",
				  (json_int_t)b->token, "shared", b->shared));
	}
	return list;
}

static json_t *marks(const struct lab_timeline *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_marks; i++)
		json_array_append_new(
			list,
			json_pack("{s:o, s:f, s:o}", "party",
				  json_text(t->parties[t->marks[i].party]),
				  "at", t->marks[i].at, "text",
				  json_text(t->marks[i].text)));
	return list;
}

static json_t *overlaps(const struct lab_timeline *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->n_overlaps; i++)
		json_array_append_new(list, json_pack("{s:f, s:f}", "from",
						      t->overlaps[i].from, "to",
						      t->overlaps[i].to));
	return list;
}

static json_t *timeline(const struct lab_findings *f,
			const struct lab_timeline *t)
{
	json_t *to = t->fault_to < 0 ? json_null() : json_real(t->fault_to);

	return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "store",
			 json_text(f->stores[t->store].name), "behaviour",
			 f->behaviours[t->behaviour].id, "fault",
			 json_text(t->fault), "fault_to", to, "beliefs",
			 beliefs(t), "marks", marks(t), "overlaps",
			 overlaps(t));
}

static json_t *run(const struct lab_run *r)
{
	return json_pack("{s:I, s:I, s:s, s:o, s:i, s:o, s:I, s:b, s:b, s:b}",
			 "began", (json_int_t)r->began, "took_ms",
			 (json_int_t)r->took_ms, "dlock", r->version, "machine",
			 json_text(r->machine), "busy_percent", r->strain,
			 "options", json_text(r->options), "seed",
			 (json_int_t)r->seed, "quick", r->quick, "lab", r->lab,
			 "interrupted", r->interrupted);
}

static json_t *findings(const struct lab_findings *f)
{
	json_t *list = json_array();

	for (size_t b = 0; b < f->n_behaviours; b++)
		for (size_t s = 0; s < f->n_stores; s++)
			json_array_append_new(list, finding(f, s, b));
	return list;
}

json_t *compare_json(const struct lab_findings *f)
{
	json_t *stores = json_array();
	json_t *behaviours = json_array();
	json_t *figures = json_array();
	json_t *timelines = json_array();

	for (size_t i = 0; i < f->n_stores; i++)
		json_array_append_new(stores, store(&f->stores[i]));
	for (size_t i = 0; i < f->n_behaviours; i++)
		json_array_append_new(behaviours, behaviour(&f->behaviours[i]));
	for (size_t i = 0; i < f->n_figures; i++)
		json_array_append_new(figures, figure(f, &f->figures[i]));
	for (size_t i = 0; i < f->n_timelines; i++)
		json_array_append_new(timelines, timeline(f, &f->timelines[i]));
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "schema",
			 SCHEMA, "worst",
			 lab_outcome_key(lab_findings_worst(f)), "run",
			 run(&f->run), "stores", stores, "behaviours",
			 behaviours, "findings", findings(f), "figures",
			 figures, "timelines", timelines);
}
