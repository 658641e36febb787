/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/heap.h"

#include <stdlib.h>

int dlki_heap_reserve(struct dlki_heap *h, size_t n)
{
	struct dlki_timer **v;
	size_t room = h->room ? h->room : 16;

	if (n <= h->room)
		return 0;
	while (room < n)
		room += room / 2;
	v = realloc(h->v, room * sizeof(struct dlki_timer *));
	if (!v)
		return DLOCK_ENOMEM;
	h->v = v;
	h->room = room;
	return 0;
}

void dlki_heap_destroy(struct dlki_heap *h)
{
	free(h->v);
	h->v = NULL;
	h->n = h->room = 0;
}

static void put(struct dlki_heap *h, size_t i, struct dlki_timer *t)
{
	h->v[i] = t;
	t->place = i + 1;
}

static void sift(struct dlki_heap *h, size_t i, struct dlki_timer *t)
{
	while (i > 0 && t->at < h->v[(i - 1) / 2]->at) {
		put(h, i, h->v[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= h->n)
			break;
		if (child + 1 < h->n && h->v[child + 1]->at < h->v[child]->at)
			child++;
		if (t->at <= h->v[child]->at)
			break;
		put(h, i, h->v[child]);
		i = child;
	}
	put(h, i, t);
}

void dlki_heap_set(struct dlki_heap *h, struct dlki_timer *t, dlk_time at)
{
	if (at == DLK_FOREVER) {
		dlki_heap_remove(h, t);
		return;
	}
	t->at = at;
	if (t->place == 0) {
		h->n++;
		sift(h, h->n - 1, t);
	} else {
		sift(h, t->place - 1, t);
	}
}

void dlki_heap_remove(struct dlki_heap *h, struct dlki_timer *t)
{
	struct dlki_timer *last;
	size_t i;

	if (t->place == 0)
		return;
	i = t->place - 1;
	t->place = 0;
	last = h->v[--h->n];
	if (last != t)
		sift(h, i, last);
}

/* ---- Alarms -------------------------------------------------------------- */

int dlki_alarms_reserve(struct dlki_alarms *s, size_t n)
{
	int rc = dlki_heap_reserve(&s->heap, s->reserved + n);

	if (rc == 0)
		s->reserved += n;
	return rc;
}

void dlki_alarms_unreserve(struct dlki_alarms *s, size_t n)
{
	s->reserved -= n;
}

/* Ring at most as many alarms as the heap has now: an alarm that ring() sets to
 * the past would hold the thread for ever. */
size_t dlki_alarms_ring(struct dlki_alarms *s, dlk_time now)
{
	size_t most = s->heap.n;
	size_t rang = 0;
	struct dlki_timer *t;

	while (rang < most && (t = dlki_heap_due(&s->heap, now))) {
		struct dlki_alarm *a = (struct dlki_alarm *)t;

		dlki_heap_remove(&s->heap, t);
		a->ring(a, now);
		rang++;
	}
	return rang;
}
