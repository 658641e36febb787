/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memcached/items.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

static struct mm_item **bucket_of(struct mm_items *all, const char *key,
				  size_t len)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)key[i]) * 16777619u;
	return &all->buckets[hash % MM_BUCKETS];
}

/* Expired items stay until a client asks for them, or for their room. */
static void purge(struct mm_items *all)
{
	struct mm_item *newer;

	for (struct mm_item *i = all->oldest; i; i = newer) {
		newer = i->newer;
		if (mm_items_is_over(all, i))
			mm_items_remove(all, i);
	}
}

struct mm_item *mm_items_alloc(struct mm_items *all, struct mm_text key,
			       uint32_t flags, uint32_t end_s)
{
	struct mm_item *item;

	if (all->room == 0)
		purge(all);
	if (all->room == 0)
		return NULL;
	if (all->room != INT64_MAX)
		all->room--;
	item = sim_alloc(sizeof(*item));
	item->key = sim_copy(key.s, key.len);
	item->key_len = key.len;
	item->flags = flags;
	item->end_s = end_s;
	return item;
}

void mm_items_free(struct mm_items *all, struct mm_item *item)
{
	if (all->room != INT64_MAX)
		all->room++;
	sim_bytes_free(&item->value);
	free(item->key);
	free(item);
}

uint64_t mm_items_next_cas(struct mm_items *all)
{
	return ++all->last_cas;
}

void mm_items_link(struct mm_items *all, struct mm_item *item)
{
	struct mm_item **bucket = bucket_of(all, item->key, item->key_len);

	item->time_s = all->now_s;
	item->cas = mm_items_next_cas(all);
	item->next = *bucket;
	*bucket = item;
	item->older = all->newest;
	item->newer = NULL;
	if (all->newest)
		all->newest->newer = item;
	else
		all->oldest = item;
	all->newest = item;
}

static void unlink_item(struct mm_items *all, struct mm_item *item)
{
	struct mm_item **at = bucket_of(all, item->key, item->key_len);

	while (*at != item)
		at = &(*at)->next;
	*at = item->next;
	if (item->older)
		item->older->newer = item->newer;
	else
		all->oldest = item->newer;
	if (item->newer)
		item->newer->older = item->older;
	else
		all->newest = item->older;
}

void mm_items_remove(struct mm_items *all, struct mm_item *item)
{
	unlink_item(all, item);
	mm_items_free(all, item);
}

void mm_items_clear(struct mm_items *all)
{
	while (all->oldest)
		mm_items_remove(all, all->oldest);
}

void mm_items_flush(struct mm_items *all)
{
	all->flushed_s = all->now_s - 1;
	all->flushed_cas = mm_items_next_cas(all);
}

int mm_items_is_over(const struct mm_items *all, const struct mm_item *item)
{
	return item->time_s <= all->flushed_s || item->cas < all->flushed_cas ||
	       (item->end_s != 0 && item->end_s <= all->now_s);
}

struct mm_item *mm_items_find(struct mm_items *all, struct mm_text key)
{
	struct mm_item *item = *bucket_of(all, key.s, key.len);

	while (item && (item->key_len != key.len ||
			memcmp(item->key, key.s, key.len) != 0))
		item = item->next;
	if (item && mm_items_is_over(all, item)) {
		mm_items_remove(all, item);
		item = NULL;
	}
	return item;
}

void mm_items_fetched(const struct mm_items *all, struct mm_item *item)
{
	if (item->is_fetched && !item->is_active) {
		item->is_active = 1;
		item->time_s = all->now_s;
	}
	item->is_fetched = 1;
}
