/* SPDX-License-Identifier: Apache-2.0 */
/* The text protocol. */
#include <inttypes.h>
#include <limits.h>

#include "sim/memcached/commands.h"

/* 1, or the reply says that there are too few words, or too many. */
static int has_words(const struct mm_call *call, size_t least, size_t most)
{
	if (call->words.n >= least && call->words.n <= most)
		return 1;
	mm_reply(call, "ERROR");
	return 0;
}

/* ---- get, gets ----------------------------------------------------------- */

static void put_value(struct sim_bytes *out, const struct mm_item *item,
		      int with_cas)
{
	sim_bytes_printf(out, "VALUE %s %" PRIu32 " %zu", item->key,
			 item->flags, item->value.len);
	if (with_cas)
		sim_bytes_printf(out, " %" PRIu64, item->cas);
	sim_bytes_text_add(out, "\r\n");
	sim_bytes_add(out, sim_bytes_text(&item->value), item->value.len);
	sim_bytes_text_add(out, "\r\n");
}

void mm_get(struct mm_call *call)
{
	const struct mm_words *w = &call->words;
	int with_cas = mm_word_is(w->v[0], "gets");

	if (!has_words(call, 2, MM_WORDS))
		return;
	for (size_t i = 1; i < w->n; i++) {
		if (!mm_is_key(call, w->v[i]))
			return;
	}
	for (size_t i = 1; i < w->n; i++) {
		struct mm_item *item = mm_items_find(call->items, w->v[i]);

		if (!item)
			continue;
		mm_items_fetched(call->items, item);
		put_value(&call->conn->out, item, with_cas);
	}
	mm_reply(call, "END");
}

/* ---- set, add, cas ------------------------------------------------------- */

static enum mm_mode mode_of(struct mm_text command)
{
	return mm_word_is(command, "set") ? MM_SET :
	       mm_word_is(command, "add") ? MM_ADD :
					    MM_CAS;
}

/* An old value is worse than no value. */
static void refuse(struct mm_call *call, enum mm_mode mode, size_t len)
{
	struct mm_item *old;

	mm_reply(call, "SERVER_ERROR out of memory storing object");
	call->conn->swallow = len + 2;
	if (mode != MM_SET)
		return;
	old = mm_items_find(call->items, call->words.v[1]);
	if (old)
		mm_items_remove(call->items, old);
}

void mm_update(struct mm_call *call)
{
	const struct mm_words *w = &call->words;
	struct sim_memc_conn *c = call->conn;
	struct mm_store store = { .mode = mode_of(w->v[0]) };
	size_t words = store.mode == MM_CAS ? 6 : 5;
	uint32_t flags;
	int32_t exptime, len;

	if (!has_words(call, words, words) || !mm_is_key(call, w->v[1]))
		return;
	if (!mm_read_u32(w->v[2].s, &flags) ||
	    !mm_read_i32(w->v[3].s, &exptime) ||
	    !mm_read_i32(w->v[4].s, &len) ||
	    (words == 6 && !mm_read_u64(w->v[5].s, &store.cas)) || len < 0 ||
	    len > INT_MAX - 2) {
		mm_reply(call, MM_BAD_FORMAT);
		return;
	}
	store.item = mm_items_alloc(call->items, w->v[1], flags,
				    mm_end_of(c->server, exptime));
	if (!store.item) {
		refuse(call, store.mode, (size_t)len);
		return;
	}
	store.len = (size_t)len + 2;
	c->store = store;
}

/* ---- Others -------------------------------------------------------------- */

void mm_delete(struct mm_call *call)
{
	struct mm_item *item;

	if (!has_words(call, 2, 2) || !mm_is_key(call, call->words.v[1]))
		return;
	item = mm_items_find(call->items, call->words.v[1]);
	if (item)
		mm_items_remove(call->items, item);
	mm_reply(call, item ? "DELETED" : "NOT_FOUND");
}

void mm_flush_all(struct mm_call *call)
{
	if (!has_words(call, 1, 1))
		return;
	mm_items_flush(call->items);
	mm_reply(call, "OK");
}

void mm_version(struct mm_call *call)
{
	mm_reply(call, "VERSION 1.6.18");
}
