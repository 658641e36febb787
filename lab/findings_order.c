/* SPDX-License-Identifier: Apache-2.0 */
/* Figures and timelines come as trials end; some go, as their trials do not
 * count. */
#include "lab/findings.h"

#include <string.h>

/* How each of them begins: the cell that it belongs to. */
struct placed {
	size_t store, behaviour;
};

#define PLACED(type)                                                           \
	_Static_assert(offsetof(type, store) ==                                \
				       offsetof(struct placed, store) &&       \
			       offsetof(type, behaviour) ==                    \
				       offsetof(struct placed, behaviour),     \
		       "it begins otherwise")

PLACED(struct lab_figure);
PLACED(struct lab_timeline);

static size_t place(const struct lab_findings *f, const void *element)
{
	struct placed p;

	memcpy(&p, element, sizeof(p));
	return p.behaviour * f->n_stores + p.store;
}

/* Returns how many are left. */
static size_t forget(const struct lab_findings *f, void *array, size_t n,
		     size_t size, size_t gone)
{
	char *base = array;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (place(f, base + i * size) != gone)
			memmove(base + kept++ * size, base + i * size, size);
	return kept;
}

void lab_findings_forget(struct lab_findings *f, size_t store, size_t behaviour)
{
	const struct placed p = { store, behaviour };
	size_t gone = place(f, &p);

	f->n_figures = forget(f, f->figures, f->n_figures, sizeof(*f->figures),
			      gone);
	f->n_timelines = forget(f, f->timelines, f->n_timelines,
				sizeof(*f->timelines), gone);
}

static void swap(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char c = a[i];

		a[i] = b[i];
		b[i] = c;
	}
}

/* By insertion: there are some dozens, and those of one cell keep their order.
 */
static void order(const struct lab_findings *f, void *array, size_t n,
		  size_t size)
{
	char *base = array;

	for (size_t i = 1; i < n; i++)
		for (char *at = base + i * size;
		     at > base && place(f, at - size) > place(f, at);
		     at -= size)
			swap(at - size, at, size);
}

void lab_findings_order(struct lab_findings *f)
{
	order(f, f->figures, f->n_figures, sizeof(*f->figures));
	order(f, f->timelines, f->n_timelines, sizeof(*f->timelines));
}
