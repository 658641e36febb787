/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memcached/call.h"

enum { MOST_S = 60 * 60 * 24 * 30 };

void mm_reply(const struct mm_call *call, const char *line)
{
	sim_bytes_text_add(&call->conn->out, line);
	sim_bytes_text_add(&call->conn->out, "\r\n");
}

int mm_is_key(const struct mm_call *call, struct mm_text word)
{
	if (word.len <= MM_KEY_MAX)
		return 1;
	mm_reply(call, MM_BAD_FORMAT);
	return 0;
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

enum mm_stored mm_store_item(struct mm_items *all, const struct mm_store *how,
			     struct mm_item *item)
{
	struct mm_text key = { item->key, item->key_len };
	struct mm_item *old = mm_items_find(all, key);
	enum mm_stored rc = MM_STORED;

	if (how->mode == MM_ADD && old)
		rc = MM_NOT_STORED;
	else if (how->mode == MM_CAS && !old)
		rc = MM_NOT_FOUND;
	else if (how->mode == MM_CAS && how->cas != old->cas)
		rc = MM_EXISTS;
	if (rc != MM_STORED) {
		mm_items_free(all, item);
		return rc;
	}
	if (old)
		mm_items_remove(all, old);
	mm_items_link(all, item);
	return MM_STORED;
}
