/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from texts to values, in the order of the texts, so that a loop over
 * the map meets the same order in every run.  All zeroes are an empty map.
 */
#ifndef DLOCK_SIM_REDIS_MAP_H
#define DLOCK_SIM_REDIS_MAP_H

#include "sim/redis/text.h"

struct rm_entry {
	struct rm_text key; /* the entry's own */
	void *value;        /* the owner of the map frees it */
};

struct rm_map {
	struct rm_entry *entries;
	size_t n, room;
};

/* NULL: not there. */
struct rm_entry *rm_map_find(const struct rm_map *m, struct rm_text key);

/* Return the entry; a new entry has a NULL value. */
struct rm_entry *rm_map_add(struct rm_map *m, struct rm_text key);

/* Remove the entry, and return its value. */
void *rm_map_remove(struct rm_map *m, struct rm_entry *entry);

/* Remove all; `end`, unless NULL, frees a value. */
void rm_map_clear(struct rm_map *m, void (*end)(void *value));

#endif
