/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/history/table.h"

#include <stdlib.h>

struct lab_table_slot {
	uint64_t key;
	size_t place;
	size_t full;
};

static int alloc(struct lab_table *t, size_t size)
{
	t->slots = calloc(size, sizeof(*t->slots));
	t->mask = size - 1;
	t->used = 0;
	return t->slots ? 0 : -1;
}

int lab_table_init(struct lab_table *t, size_t n)
{
	size_t size = 64;

	while (size < 2 * n)
		size *= 2;
	return alloc(t, size);
}

void lab_table_free(struct lab_table *t)
{
	free(t->slots);
	t->slots = NULL;
}

/* Linear probing; the keys' own bits are stirred first. */
static struct lab_table_slot *slot_of(const struct lab_table *t, uint64_t key)
{
	size_t i = (key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20;

	while (t->slots[i & t->mask].full && t->slots[i & t->mask].key != key)
		i++;
	return &t->slots[i & t->mask];
}

static int grow_table(struct lab_table *t)
{
	struct lab_table old = *t;

	if (alloc(t, 2 * (old.mask + 1)) < 0) {
		*t = old;
		return -1;
	}
	for (size_t i = 0; i <= old.mask; i++)
		if (old.slots[i].full)
			*slot_of(t, old.slots[i].key) = old.slots[i];
	t->used = old.used;
	free(old.slots);
	return 0;
}

size_t *lab_table_at(struct lab_table *t, uint64_t key)
{
	struct lab_table_slot *s;

	if (2 * t->used > t->mask && grow_table(t) < 0)
		return NULL;
	s = slot_of(t, key);
	if (!s->full) {
		s->full = 1;
		s->key = key;
		s->place = LAB_NOWHERE;
		t->used++;
	}
	return &s->place;
}

size_t *lab_table_find(struct lab_table *t, uint64_t key)
{
	struct lab_table_slot *s = slot_of(t, key);

	return s->full ? &s->place : NULL;
}
