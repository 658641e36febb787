/* SPDX-License-Identifier: Apache-2.0 */
/* Figures and timelines come as trials end; some go, as their trials do not
 * count. */
#include "lab/report/findings.h"

#include <string.h>

/* The common beginning of all elements: the cell. */
struct placed {
	size_t store, scenario;
};

#define PLACED(type)                                                           \
	_Static_assert(offsetof(type, store) ==                                \
				       offsetof(struct placed, store) &&       \
			       offsetof(type, scenario) ==                     \
				       offsetof(struct placed, scenario),      \
		       "it begins otherwise")

PLACED(struct lab_figure);
PLACED(struct lab_timeline);

static size_t place_of(const struct lab_findings *f, const void *element)
{
	struct placed p;

	memcpy(&p, element, sizeof(p));
	return p.scenario * f->n_stores + p.store;
}

/* Returns how many are left. */
static size_t forget_cell(const struct lab_findings *f, void *array, size_t n,
			  size_t size, size_t gone)
{
	char *base = array;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (place_of(f, base + i * size) != gone)
			memmove(base + kept++ * size, base + i * size, size);
	return kept;
}

void lab_findings_forget(struct lab_findings *f, size_t store, size_t scenario)
{
	const struct placed p = { store, scenario };
	size_t gone = place_of(f, &p);

	f->n_figures = forget_cell(f, f->figures, f->n_figures,
				   sizeof(*f->figures), gone);
	f->n_timelines = forget_cell(f, f->timelines, f->n_timelines,
				     sizeof(*f->timelines), gone);
}

static void swap_bytes(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char c = a[i];

		a[i] = b[i];
		b[i] = c;
	}
}

/* Sort by insertion: there are some dozens, and elements of a cell keep their
 * order. */
static void order_by_place(const struct lab_findings *f, void *array, size_t n,
			   size_t size)
{
	char *base = array;

	for (size_t i = 1; i < n; i++)
		for (char *at = base + i * size;
		     at > base && place_of(f, at - size) > place_of(f, at);
		     at -= size)
			swap_bytes(at - size, at, size);
}

void lab_findings_order(struct lab_findings *f)
{
	order_by_place(f, f->figures, f->n_figures, sizeof(*f->figures));
	order_by_place(f, f->timelines, f->n_timelines, sizeof(*f->timelines));
}
