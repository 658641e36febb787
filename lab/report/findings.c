/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/report/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Strings and arrays alike are in a table of blocks to free. */
struct lab_findings_memory {
	void **blocks;
	size_t used;
	size_t room;
	bool failed;
};

const char *lab_outcome_words(enum lab_outcome outcome)
{
	static const char *const words[] = {
#define X(name, words, key) words,
		LAB_OUTCOMES(X)
#undef X
	};

	return outcome < LAB_NOUTCOMES ? words[outcome] : "";
}

const char *lab_outcome_key(enum lab_outcome outcome)
{
	static const char *const keys[] = {
#define X(name, words, key) key,
		LAB_OUTCOMES(X)
#undef X
	};

	return outcome < LAB_NOUTCOMES ? keys[outcome] : "";
}

/* ---- Memory -------------------------------------------------------------- */

struct lab_findings *lab_findings_new(void)
{
	struct lab_findings *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->memory = calloc(1, sizeof(*f->memory));
	if (!f->memory) {
		free(f);
		return NULL;
	}
	f->run.version = f->run.machine = f->run.options = "";
	return f;
}

bool lab_findings_ok(const struct lab_findings *f)
{
	return !f->memory->failed;
}

void lab_findings_free(struct lab_findings *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->memory->used; i++)
		free(f->memory->blocks[i]);
	free(f->memory->blocks);
	free(f->memory);
	free(f);
}

/* Take over `block`; NULL is remembered as a failure. */
static void *keep_block(struct lab_findings *f, void *block)
{
	struct lab_findings_memory *m = f->memory;

	if (block && m->used == m->room) {
		size_t room = m->room ? 2 * m->room : 64;
		void **more = realloc(m->blocks, room * sizeof(*more));

		if (!more) {
			free(block);
			block = NULL;
		} else {
			m->blocks = more;
			m->room = room;
		}
	}
	if (!block) {
		m->failed = true;
		return NULL;
	}
	m->blocks[m->used++] = block;
	return block;
}

const char *lab_findings_text(struct lab_findings *f, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return keep_block(f, text) ? text : "";
}

/* Make room for another element, zeroed, in an array that doubles; outgrown
 * arrays live until all is freed, so no pointer into them goes wild. */
static void *push_zeroed(struct lab_findings *f, void *array, size_t *n,
			 size_t size)
{
	size_t i = *n;
	char *base;

	/* `array` points to a pointer of another type. */
	memcpy(&base, array, sizeof(base));
	if (i == 0 || (i & (i - 1)) == 0) {
		char *more = keep_block(f, calloc(i ? 2 * i : 1, size));

		if (!more)
			return NULL;
		if (i)
			memcpy(more, base, i * size);
		base = more;
		memcpy(array, &base, sizeof(base));
	}
	*n = i + 1;
	memset(base + i * size, 0, size); /* room of an entry taken back */
	return base + i * size;
}

/* ---- Rows ---------------------------------------------------------------- */

struct lab_store *lab_findings_store(struct lab_findings *f)
{
	struct lab_store *s = push_zeroed(f, &f->stores, &f->n_stores,
					  sizeof(*f->stores));

	if (s)
		s->name = s->uri = s->server = s->settings = s->trouble = "";
	return s;
}

struct lab_about *lab_findings_scenario(struct lab_findings *f)
{
	struct lab_about *b = push_zeroed(f, &f->scenarios, &f->n_scenarios,
					  sizeof(*f->scenarios));

	if (b)
		b->id = b->title = b->guarantee = "";
	return b;
}

bool lab_findings_cells(struct lab_findings *f)
{
	size_t n = f->n_stores * f->n_scenarios;

	f->cells = keep_block(f, calloc(n ? n : 1, sizeof(*f->cells)));
	for (size_t i = 0; f->cells && i < n; i++) {
		f->cells[i].why = f->cells[i].log = "";
		f->cells[i].found_ms = -1;
	}
	return f->cells != NULL;
}

static size_t place_of(const struct lab_findings *f, size_t store,
		       size_t scenario)
{
	return scenario * f->n_stores + store;
}

struct lab_finding *lab_finding(const struct lab_findings *f, size_t store,
				size_t scenario)
{
	return &f->cells[place_of(f, store, scenario)];
}

/* Put the last figure behind the other figures of its cell. */
static struct lab_figure *place_figure(struct lab_findings *f)
{
	struct lab_figure *at = &f->figures[f->n_figures - 1];
	const struct lab_figure new = *at;
	size_t place = place_of(f, new.store, new.scenario);

	for (; at > f->figures &&
	       place_of(f, at[-1].store, at[-1].scenario) > place;
	     at--)
		*at = at[-1];
	*at = new;
	return at;
}

struct lab_figure *lab_findings_figure(struct lab_findings *f, size_t store,
				       size_t scenario)
{
	struct lab_figure *g = push_zeroed(f, &f->figures, &f->n_figures,
					   sizeof(*f->figures));

	if (!g)
		return NULL;
	g->store = store;
	g->scenario = scenario;
	g->id = g->name = g->unit = g->floor = "";
	g->floor_p50 = -1;
	return place_figure(f);
}

const struct lab_figure *lab_figure(const struct lab_findings *f, size_t store,
				    const char *id)
{
	for (size_t i = 0; i < f->n_figures; i++)
		if (f->figures[i].store == store &&
		    !strcmp(f->figures[i].id, id))
			return &f->figures[i];
	return NULL;
}

enum lab_outcome lab_findings_worst(const struct lab_findings *f)
{
	enum lab_outcome worst = LAB_OUTCOME_NOT_RUN;

	for (size_t i = 0; f->cells && i < f->n_stores * f->n_scenarios; i++)
		if (f->cells[i].outcome > worst)
			worst = f->cells[i].outcome;
	return worst;
}

/* ---- Timelines ----------------------------------------------------------- */

static struct lab_timeline *place_timeline(struct lab_findings *f)
{
	struct lab_timeline *at = &f->timelines[f->n_timelines - 1];
	const struct lab_timeline new = *at;
	size_t place = place_of(f, new.store, new.scenario);

	for (; at > f->timelines &&
	       place_of(f, at[-1].store, at[-1].scenario) > place;
	     at--)
		*at = at[-1];
	*at = new;
	return at;
}

struct lab_timeline *lab_findings_timeline(struct lab_findings *f, size_t store,
					   size_t scenario)
{
	struct lab_timeline *t = push_zeroed(f, &f->timelines, &f->n_timelines,
					     sizeof(*f->timelines));

	if (!t)
		return NULL;
	t->store = store;
	t->scenario = scenario;
	t->fault = "";
	t->fault_to = -1;
	return place_timeline(f);
}

void lab_findings_forget(struct lab_findings *f, size_t store, size_t scenario)
{
	size_t gone = place_of(f, store, scenario);
	size_t figures = 0, timelines = 0;

	for (size_t i = 0; i < f->n_figures; i++)
		if (place_of(f, f->figures[i].store, f->figures[i].scenario) !=
		    gone)
			f->figures[figures++] = f->figures[i];
	for (size_t i = 0; i < f->n_timelines; i++)
		if (place_of(f, f->timelines[i].store,
			     f->timelines[i].scenario) != gone)
			f->timelines[timelines++] = f->timelines[i];
	f->n_figures = figures;
	f->n_timelines = timelines;
}

size_t lab_timeline_participant(struct lab_findings *f, struct lab_timeline *t,
				const char *name)
{
	const char **p;

	for (size_t i = 0; i < t->n_participants; i++)
		if (!strcmp(t->participants[i], name))
			return i;
	p = push_zeroed(f, &t->participants, &t->n_participants, sizeof(*p));
	if (!p)
		return 0;
	*p = lab_findings_text(f, "%s", name);
	return t->n_participants - 1;
}

void lab_timeline_belief(struct lab_findings *f, struct lab_timeline *t,
			 struct lab_belief belief)
{
	struct lab_belief *b = push_zeroed(f, &t->beliefs, &t->n_beliefs,
					   sizeof(*b));

	if (b)
		*b = belief;
}

void lab_timeline_mark(struct lab_findings *f, struct lab_timeline *t,
		       size_t participant, double at, const char *text)
{
	struct lab_mark *m = push_zeroed(f, &t->marks, &t->n_marks, sizeof(*m));

	if (m)
		*m = (struct lab_mark){ participant, at,
					lab_findings_text(f, "%s", text) };
}

void lab_timeline_overlap(struct lab_findings *f, struct lab_timeline *t,
			  double from, double to)
{
	struct lab_overlap *o = push_zeroed(f, &t->overlaps, &t->n_overlaps,
					    sizeof(*o));

	if (o)
		*o = (struct lab_overlap){ from, to };
}
