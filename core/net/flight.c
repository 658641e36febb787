/* SPDX-License-Identifier: Apache-2.0 */
#include "core/net/flight.h"

#include <stdlib.h>

static struct dlki_slot *slot(const struct dlki_flight *f, uint64_t serial)
{
	return &f->v[serial & (f->room - 1)];
}

int dlki_flight_reserve(struct dlki_flight *f)
{
	size_t room = f->room ? 2 * f->room : 16;
	struct dlki_slot *v;

	if (f->end - f->first < f->room)
		return 0;
	v = malloc(room * sizeof(struct dlki_slot));
	if (!v)
		return DLOCK_ENOMEM;
	for (uint64_t i = f->first; i != f->end; i++)
		v[i & (room - 1)] = *slot(f, i);
	free(f->v);
	f->v = v;
	f->room = room;
	return 0;
}

void dlki_flight_free(struct dlki_flight *f)
{
	free(f->v);
	*f = (struct dlki_flight){ 0 };
}

uint64_t dlki_flight_add(struct dlki_flight *f, struct dlki_slot s)
{
	*slot(f, f->end) = s;
	return f->end++;
}

void dlki_flight_mark(struct dlki_flight *f, uint64_t to, dlk_time since)
{
	while (f->marked != f->end && slot(f, f->marked)->start < to)
		slot(f, f->marked++)->since = since;
}

void dlki_flight_unmark(struct dlki_flight *f, uint64_t from)
{
	while (f->marked != f->first && slot(f, f->marked - 1)->start >= from)
		slot(f, --f->marked)->since = 0;
}

void dlki_flight_pop(struct dlki_flight *f)
{
	if (f->first == f->end)
		return;
	f->first++;
	if (f->marked < f->first)
		f->marked = f->first;
}

void dlki_flight_clear(struct dlki_flight *f)
{
	f->first = f->marked = f->end;
}
