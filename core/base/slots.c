/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/slots.h"

#include <stdlib.h>

static int grow(struct dlki_slots *s)
{
	uint32_t room = s->room ? s->room + s->room / 2 : 16;
	struct dlki_slot *v;

	if (room < s->room)
		return DLOCK_ENOMEM;
	v = realloc(s->v, room * sizeof(*v));
	if (!v)
		return DLOCK_ENOMEM;
	s->v = v;
	s->room = room;
	return 0;
}

uint64_t dlki_slots_add(struct dlki_slots *s, struct dlki_claim *claim)
{
	uint32_t i;

	if (s->first_free != 0) {
		i = s->first_free - 1;
		s->first_free = s->v[i].next_free;
	} else {
		if (s->n == s->room && grow(s) != 0)
			return 0;
		i = s->n++;
		s->v[i].generation = 0;
	}
	s->v[i].claim = claim;
	s->v[i].generation++;
	return (uint64_t)s->v[i].generation << 32 | ((uint64_t)i + 1);
}

static struct dlki_slot *slot_of(const struct dlki_slots *s, uint64_t id)
{
	uint32_t place = (uint32_t)id;

	if (place == 0 || place > s->n)
		return NULL;
	if (s->v[place - 1].generation != id >> 32 || !s->v[place - 1].claim)
		return NULL;
	return &s->v[place - 1];
}

void dlki_slots_remove(struct dlki_slots *s, uint64_t id)
{
	struct dlki_slot *slot = slot_of(s, id);

	if (!slot)
		return;
	slot->claim = NULL;
	slot->next_free = s->first_free;
	s->first_free = (uint32_t)id;
}

struct dlki_claim *dlki_slots_find(const struct dlki_slots *s, uint64_t id)
{
	const struct dlki_slot *slot = slot_of(s, id);

	return slot ? slot->claim : NULL;
}
