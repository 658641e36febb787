/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids: a slot's index with the generation of the slot's use, so that an id that
 * outlived its item finds no other.  No id is ever used again.  The owner
 * locks.
 */
#ifndef DLOCK_CORE_BASE_SLOTS_H
#define DLOCK_CORE_BASE_SLOTS_H

#include <dlock/backend.h>

struct dlki_slots {
	struct dlki_id_slot {
		void *item;               /* NULL: free */
		uint32_t generation;
		uint32_t next_free;       /* index + 1; 0: none */
	} *v;
	uint32_t n, room;
	uint32_t first_free;              /* index + 1; 0: none */
};

/* Reserve room for another item: 0 or ENOMEM. */
int dlki_slots_reserve(struct dlki_slots *s);

/* Return an id for `item`, never 0; 0 when out of memory, but not in reserved
 * room. */
uint64_t dlki_slots_add(struct dlki_slots *s, void *item);
void dlki_slots_remove(struct dlki_slots *s, uint64_t id);

/* Return the item, or NULL if it was removed. */
void *dlki_slots_find(const struct dlki_slots *s, uint64_t id);

#endif
