/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memcached/call.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_S = 60 * 60 * 24 * 30 };

void mm_reply(const struct mm_call *call, const char *line)
{
	if (!call->conn->is_silent)
		mm_reply_error(call, line);
}

void mm_reply_error(const struct mm_call *call, const char *line)
{
	sim_bytes_text_add(&call->conn->out, line);
	sim_bytes_text_add(&call->conn->out, "\r\n");
}

/* An `exptime` of more than 30 days is a date, and a negative one a date in
 * 1970. */
uint32_t mm_end_of(const struct sim_memc *s, int32_t exptime)
{
	if (exptime == 0)
		return 0;
	if (exptime < 0)
		exptime = MOST_S + 1;
	if (exptime <= MOST_S)
		return (uint32_t)exptime + s->items.now_s;
	if (exptime <= s->started_s)
		return 1;
	return (uint32_t)(exptime - s->started_s);
}

/* ---- Storing ------------------------------------------------------------- */

static void replace(struct mm_items *all, struct mm_item *old,
		    struct mm_item *item)
{
	if (old)
		mm_items_remove(all, old);
	mm_items_link(all, item);
}

static enum mm_stored store_by_cas(struct mm_items *all,
				   const struct mm_store *how,
				   struct mm_item *old, struct mm_item *item)
{
	if (!old)
		return MM_NOT_FOUND;
	if (how->cas != 0 && how->cas == old->cas) {
		replace(all, old, item);
		return MM_STORED;
	}
	if (how->cas == 0 || !how->is_stale || how->cas > old->cas)
		return MM_EXISTS;
	item->end_s = old->end_s;
	item->is_stale = 1;
	item->has_winner = old->has_winner;
	replace(all, old, item);
	return MM_STORED;
}

/* Both together are a third item. */
static enum mm_stored extend(struct mm_items *all, const struct mm_store *how,
			     struct mm_item *old, struct mm_item **item)
{
	struct mm_text key = { old->key, old->key_len };
	const struct sim_bytes *first = &old->value, *second = &(*item)->value;
	struct mm_item *both;

	if (how->cas != 0 && how->cas != old->cas)
		return MM_EXISTS;
	if (!mm_item_fits(key.len, old->flags, first->len + second->len))
		return MM_NOT_STORED;
	both = mm_items_alloc(all, key, old->flags, old->end_s);
	if (!both)
		return MM_NOT_STORED;
	if (how->mode == MM_PREPEND) {
		first = &(*item)->value;
		second = &old->value;
	}
	sim_bytes_add(&both->value, sim_bytes_text(first), first->len);
	sim_bytes_add(&both->value, sim_bytes_text(second), second->len);
	mm_items_free(all, *item);
	*item = both;
	replace(all, old, both);
	return MM_STORED;
}

static int needs_old(enum mm_mode mode)
{
	return mode == MM_REPLACE || mode == MM_APPEND || mode == MM_PREPEND;
}

enum mm_stored mm_store_item(struct mm_items *all, const struct mm_store *how,
			     struct mm_item *item, uint64_t *cas)
{
	struct mm_text key = { item->key, item->key_len };
	struct mm_item *old = mm_items_find(all, key);
	enum mm_stored rc = MM_STORED;

	if (how->mode == MM_CAS)
		rc = store_by_cas(all, how, old, item);
	else if (how->mode == MM_ADD ? old != NULL :
				       !old && needs_old(how->mode))
		rc = MM_NOT_STORED;
	else if (how->mode == MM_APPEND || how->mode == MM_PREPEND)
		rc = extend(all, how, old, &item);
	else
		replace(all, old, item);
	*cas = rc == MM_STORED ? item->cas : 0;
	if (rc != MM_STORED)
		mm_items_free(all, item);
	return rc;
}

/* ---- Numbers ------------------------------------------------------------- */

/* With a shorter number the item keeps the length, with blanks behind the
 * number. */
static int put_number(struct mm_items *all, struct mm_item **item,
		      const char *text)
{
	struct mm_item *old = *item;
	size_t len = strlen(text);
	struct mm_item *new;

	if (len <= old->value.len) {
		char *at = sim_bytes_resize(&old->value, old->value.len);

		memcpy(at, text, len);
		memset(at + len, ' ', old->value.len - len);
		old->cas = mm_items_next_cas(all);
		return 0;
	}
	new = mm_items_alloc(all, (struct mm_text){ old->key, old->key_len },
			     old->flags, old->end_s);
	if (!new)
		return -1;
	sim_bytes_add(&new->value, text, len);
	replace(all, old, new);
	*item = new;
	return 0;
}

enum mm_added mm_add_delta(struct mm_items *all, struct mm_text key,
			   const struct mm_delta *delta,
			   char text[MM_NUMBER_SIZE], struct mm_item **out,
			   int *is_new)
{
	struct mm_item *item = mm_items_find(all, key);
	struct mm_item *before = item;
	uint64_t n;

	*out = NULL;
	if (!item)
		return MM_NO_ITEM;
	if (item->value.len == 0)
		return MM_NO_NUMBER;
	if (delta->cas != 0 && delta->cas != item->cas)
		return MM_OTHER_CAS;
	if (!mm_read_u64(sim_bytes_text(&item->value), &n))
		return MM_NO_NUMBER;
	if (!delta->is_less)
		n += delta->by;
	else
		n = delta->by > n ? 0 : n - delta->by;
	snprintf(text, MM_NUMBER_SIZE, "%" PRIu64, n);
	if (put_number(all, &item, text) != 0)
		return MM_NO_ROOM;
	*out = item;
	*is_new = item != before;
	return MM_ADDED;
}

/* ---- flush_all ----------------------------------------------------------- */

void mm_flush(struct sim_memc *s, int32_t in_s)
{
	struct mm_items *all = &s->items;
	uint32_t at_s = in_s > 0 ? mm_end_of(s, in_s) : all->now_s;

	if (all->no_cas) {
		all->flushed_s = at_s;
		return;
	}
	all->flushed_s = at_s - 1;
	if (all->flushed_s <= all->now_s)
		all->flushed_cas = mm_items_next_cas(all);
}
