/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of the model memcached, and the server's count of seconds, by which
 * items end.
 */
#ifndef DLOCK_SIM_MEMCACHED_ITEMS_H
#define DLOCK_SIM_MEMCACHED_ITEMS_H

#include <stdint.h>

#include "sim/base/bytes.h"

enum { MM_KEY_MAX = 250, MM_BUCKETS = 256 };

struct mm_text {
	const char *s; /* a zero stands behind the last byte */
	size_t len;
};

struct mm_item {
	struct mm_item *next;          /* in the bucket */
	struct mm_item *older, *newer; /* in the order of linking */
	char *key;
	size_t key_len;
	struct sim_bytes value;
	uint32_t flags;
	uint32_t end_s;  /* by the count; 0: never */
	uint32_t time_s; /* of the link, or of the second fetch */
	uint64_t cas;
	int is_fetched, is_active;
};

struct mm_items {
	struct mm_item *buckets[MM_BUCKETS];
	struct mm_item *oldest, *newest;
	uint32_t now_s;    /* the count */
	uint64_t last_cas;
	int64_t room;         /* for so many more items */
	uint32_t flushed_s;   /* flush_all: items of that count or before have
			       * ended; 0: no flush */
	uint64_t flushed_cas; /* ... and items with a smaller number */
};

/* A new item, which is not linked.  NULL: no room. */
struct mm_item *mm_items_alloc(struct mm_items *all, struct mm_text key,
			       uint32_t flags, uint32_t end_s);
void mm_items_free(struct mm_items *all, struct mm_item *item);

/* Each link has a new number. */
void mm_items_link(struct mm_items *all, struct mm_item *item);

/* Unlink and free. */
void mm_items_remove(struct mm_items *all, struct mm_item *item);
void mm_items_clear(struct mm_items *all);

/* flush_all: the items have ended, and a number is used up. */
void mm_items_flush(struct mm_items *all);

uint64_t mm_items_next_cas(struct mm_items *all);

/* Has the item ended? */
int mm_items_is_over(const struct mm_items *all, const struct mm_item *item);

/* NULL: not there, or expired; an expired item is removed. */
struct mm_item *mm_items_find(struct mm_items *all, struct mm_text key);

/* A client fetched the item. */
void mm_items_fetched(const struct mm_items *all, struct mm_item *item);

#endif
