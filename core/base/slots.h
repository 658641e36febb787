/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids for claims: a slot's index with the generation of the slot's use, so that
 * an id that outlived the claim finds no other.  The owner locks.
 */
#ifndef DLOCK_CORE_BASE_SLOTS_H
#define DLOCK_CORE_BASE_SLOTS_H

#include <dlock/backend.h>

struct dlki_claim;

struct dlki_slots {
	struct dlki_slot {
		struct dlki_claim *claim; /* NULL: free */
		uint32_t generation;
		uint32_t next_free;       /* index + 1; 0: none */
	} *v;
	uint32_t n, room;
	uint32_t first_free;              /* index + 1; 0: none */
};

/* Return an id for `claim`, never 0; 0 when out of memory. */
uint64_t dlki_slots_add(struct dlki_slots *s, struct dlki_claim *claim);
void dlki_slots_remove(struct dlki_slots *s, uint64_t id);

/* Return the claim, or NULL if it was removed. */
struct dlki_claim *dlki_slots_find(const struct dlki_slots *s, uint64_t id);

#endif
