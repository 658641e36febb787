/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/slots.h"

#include <stdlib.h>

static int grow(struct dlki_slots *s)
{
	uint32_t room = s->room ? s->room + s->room / 2 : 16;
	struct dlki_id_slot *v;

	if (room < s->room)
		return DLOCK_ENOMEM;
	v = realloc(s->v, room * sizeof(*v));
	if (!v)
		return DLOCK_ENOMEM;
	s->v = v;
	s->room = room;
	return 0;
}

int dlki_slots_reserve(struct dlki_slots *s)
{
	return s->first_free != 0 || s->n < s->room ? 0 : grow(s);
}

uint64_t dlki_slots_add(struct dlki_slots *s, void *item)
{
	uint32_t i;

	if (dlki_slots_reserve(s) != 0)
		return 0;
	if (s->first_free != 0) {
		i = s->first_free - 1;
		s->first_free = s->v[i].next_free;
	} else {
		i = s->n++;
		s->v[i].generation = 0;
	}
	s->v[i].item = item;
	s->v[i].generation++;
	return (uint64_t)s->v[i].generation << 32 | ((uint64_t)i + 1);
}

static struct dlki_id_slot *slot_of(const struct dlki_slots *s, uint64_t id)
{
	uint32_t place = (uint32_t)id;

	if (place == 0 || place > s->n)
		return NULL;
	if (s->v[place - 1].generation != id >> 32 || !s->v[place - 1].item)
		return NULL;
	return &s->v[place - 1];
}

void dlki_slots_remove(struct dlki_slots *s, uint64_t id)
{
	struct dlki_id_slot *slot = slot_of(s, id);

	if (!slot)
		return;
	slot->item = NULL;
	if (slot->generation == UINT32_MAX)
		return; /* used up */
	slot->next_free = s->first_free;
	s->first_free = (uint32_t)id;
}

void *dlki_slots_find(const struct dlki_slots *s, uint64_t id)
{
	const struct dlki_id_slot *slot = slot_of(s, id);

	return slot ? slot->item : NULL;
}
