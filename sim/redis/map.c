/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/map.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

/* Return the place of the key, or where to insert it. */
static size_t place_of(const struct rm_map *m, struct rm_text key, int *there)
{
	size_t low = 0, high = m->n;

	*there = 0;
	while (low < high) {
		size_t mid = (low + high) / 2;
		int c = rm_compare(m->entries[mid].key, key);

		if (c == 0) {
			*there = 1;
			return mid;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct rm_entry *rm_map_find(const struct rm_map *m, struct rm_text key)
{
	int there;
	size_t at = place_of(m, key, &there);

	return there ? &m->entries[at] : NULL;
}

struct rm_entry *rm_map_add(struct rm_map *m, struct rm_text key)
{
	int there;
	size_t at = place_of(m, key, &there);

	if (there)
		return &m->entries[at];
	if (m->n == m->room) {
		m->room = 2 * m->room + 4;
		m->entries = sim_grow(m->entries, m->room, sizeof(*m->entries));
	}
	memmove(&m->entries[at + 1], &m->entries[at],
		(m->n - at) * sizeof(*m->entries));
	m->n++;
	m->entries[at] = (struct rm_entry){
		{ sim_copy(key.s, key.len), key.len }, NULL
	};
	return &m->entries[at];
}

void *rm_map_remove(struct rm_map *m, struct rm_entry *entry)
{
	void *value = entry->value;
	size_t at = (size_t)(entry - m->entries);

	free((char *)entry->key.s);
	m->n--;
	memmove(entry, entry + 1, (m->n - at) * sizeof(*entry));
	return value;
}

void rm_map_clear(struct rm_map *m, void (*end)(void *value))
{
	for (size_t i = 0; i < m->n; i++) {
		if (end)
			end(m->entries[i].value);
		free((char *)m->entries[i].key.s);
	}
	free(m->entries);
	*m = (struct rm_map){ 0 };
}
