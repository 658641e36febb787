/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary heap of times, earliest first; nodes are members of the structs they
 * time.  Insert, move, remove: O(log n).  The owner locks.
 */
#ifndef DLOCK_CORE_BASE_HEAP_H
#define DLOCK_CORE_BASE_HEAP_H

#include <dlock/backend.h>

struct dlki_timer {
	dlk_time at;
	size_t place; /* index + 1; 0: in no heap */
};

struct dlki_heap {
	struct dlki_timer **v;
	size_t n, room;
};

/* Make room for `n` nodes in all, so that dlki_heap_set() cannot fail. */
int dlki_heap_reserve(struct dlki_heap *h, size_t n);
void dlki_heap_destroy(struct dlki_heap *h);

/* Insert the node, or move it to another time. */
void dlki_heap_set(struct dlki_heap *h, struct dlki_timer *t, dlk_time at);
void dlki_heap_remove(struct dlki_heap *h, struct dlki_timer *t);

/* Return the earliest node, or NULL. */
static inline struct dlki_timer *dlki_heap_first(const struct dlki_heap *h)
{
	return h->n > 0 ? h->v[0] : NULL;
}

#endif
