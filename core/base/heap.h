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

/* Insert the node, or move it to another time; DLK_FOREVER: remove it. */
void dlki_heap_set(struct dlki_heap *h, struct dlki_timer *t, dlk_time at);
void dlki_heap_remove(struct dlki_heap *h, struct dlki_timer *t);

/* Return the earliest node, or NULL. */
static inline struct dlki_timer *dlki_heap_first(const struct dlki_heap *h)
{
	return h->n > 0 ? h->v[0] : NULL;
}

/* Return the earliest time, or DLK_FOREVER. */
static inline dlk_time dlki_heap_next(const struct dlki_heap *h)
{
	return h->n > 0 ? h->v[0]->at : DLK_FOREVER;
}

/* Return the earliest node if its time has come `now`, or NULL. */
static inline struct dlki_timer *dlki_heap_due(const struct dlki_heap *h,
					       dlk_time now)
{
	return dlki_heap_next(h) <= now ? dlki_heap_first(h) : NULL;
}

/* ---- Alarms -------------------------------------------------------------- */

/*
 * Alarms: functions to call at a time, in one heap.
 *
 * An alarm is only a reason to look.  The function derives from the state
 * whether anything is due, so an early, late or repeated call is harmless.
 */
struct dlki_alarm {
	struct dlki_timer timer;
	void (*ring)(struct dlki_alarm *a, dlk_time now);
};

struct dlki_alarms {
	struct dlki_heap heap;
	size_t reserved; /* alarms that have room in the heap */
};

/* Reserve room for `n` alarms more, or give it back: dlki_alarm_set() then
 * cannot fail.  0 or ENOMEM. */
int dlki_alarms_reserve(struct dlki_alarms *s, size_t n);
void dlki_alarms_unreserve(struct dlki_alarms *s, size_t n);

/* Ring at `at` and not before; DLK_FOREVER: never.  An alarm rings once; ring()
 * may set the alarm again. */
static inline void dlki_alarm_set(struct dlki_alarms *s, struct dlki_alarm *a,
				  dlk_time at)
{
	dlki_heap_set(&s->heap, &a->timer, at);
}

/* Ring each alarm that was due at `now` as the call began; return how many. */
size_t dlki_alarms_ring(struct dlki_alarms *s, dlk_time now);

#endif
