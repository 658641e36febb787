/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/alarm.h"

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

void dlki_alarms_destroy(struct dlki_alarms *s)
{
	dlki_heap_destroy(&s->heap);
}

void dlki_alarm_set(struct dlki_alarms *s, struct dlki_alarm *a, dlk_time at)
{
	if (at == DLK_FOREVER)
		dlki_heap_remove(&s->heap, &a->timer);
	else if (a->timer.place == 0 || a->timer.at != at)
		dlki_heap_set(&s->heap, &a->timer, at);
}

dlk_time dlki_alarms_next(const struct dlki_alarms *s)
{
	const struct dlki_timer *first = dlki_heap_first(&s->heap);

	return first ? first->at : DLK_FOREVER;
}

/* Ring at most as many alarms as the heap has now: an alarm that ring() sets to
 * the past would hold the thread for ever. */
size_t dlki_alarms_ring(struct dlki_alarms *s, dlk_time now)
{
	size_t most = s->heap.n;
	size_t rang = 0;

	while (rang < most) {
		struct dlki_timer *first = dlki_heap_first(&s->heap);
		struct dlki_alarm *a = (struct dlki_alarm *)first;

		if (!first || first->at > now)
			break;
		dlki_heap_remove(&s->heap, first);
		a->ring(a, now);
		rang++;
	}
	return rang;
}
