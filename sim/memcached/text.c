/* SPDX-License-Identifier: Apache-2.0 */
/* The text protocol. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "sim/memcached/commands.h"

static void note_silence(struct mm_call *call)
{
	if (mm_word_is(call->words.v[call->words.n - 1], "noreply"))
		call->conn->is_silent = 1;
}

/* 1, or the reply says that there are too few words, or too many. */
static int has_words(const struct mm_call *call, size_t least, size_t most)
{
	if (call->words.n >= least && call->words.n <= most)
		return 1;
	mm_reply(call, "ERROR");
	return 0;
}

/* 1, or the reply says that the key is too long. */
static int is_key(const struct mm_call *call)
{
	if (call->words.v[1].len <= MM_KEY_MAX)
		return 1;
	mm_reply(call, MM_BAD_FORMAT);
	return 0;
}

/* ---- get, gets, gat, gats ------------------------------------------------ */

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

/* Append the items of the keys from `first` on; `end_s`, unless NULL, is the
 * items' new end.  0, or -1: a key is too long. */
static int put_values(struct mm_call *call, struct sim_bytes *out, size_t first,
		      int with_cas, const uint32_t *end_s)
{
	for (size_t i = first; i < call->words.n; i++) {
		struct mm_item *item;

		if (call->words.v[i].len > MM_KEY_MAX)
			return -1;
		item = mm_items_find(call->items, call->words.v[i]);
		if (!item)
			continue;
		mm_items_fetched(call->items, item);
		if (end_s)
			item->end_s = *end_s;
		put_value(out, item, with_cas);
	}
	return 0;
}

void mm_get(struct mm_call *call)
{
	struct mm_words *w = &call->words;
	int touches = w->v[0].s[1] == 'a';
	int with_cas = w->v[0].s[w->v[0].len - 1] == 's';
	struct sim_bytes out = { 0 };
	int32_t exptime = 0;
	uint32_t end_s;
	int rc;

	if (!has_words(call, 2, SIZE_MAX))
		return;
	if (touches && !mm_read_i32(w->v[1].s, &exptime)) {
		mm_reply(call, "CLIENT_ERROR invalid exptime argument");
		return;
	}
	end_s = mm_end_of(call->conn->server, exptime);
	rc = put_values(call, &out, touches ? 2 : 1, with_cas,
			touches ? &end_s : NULL);
	while (rc == 0 && *w->rest) {
		mm_words_split(w, w->rest);
		rc = put_values(call, &out, 0, with_cas,
				touches ? &end_s : NULL);
	}
	if (rc == 0) {
		sim_bytes_add(&call->conn->out, sim_bytes_text(&out), out.len);
		mm_reply(call, "END");
	} else {
		mm_reply(call, MM_BAD_FORMAT);
	}
	sim_bytes_free(&out);
}

/* ---- set, add, replace, append, prepend, cas ----------------------------- */

static enum mm_mode mode_of(struct mm_text command)
{
	static const char *const names[] = {
		[MM_SET] = "set",         [MM_ADD] = "add",
		[MM_REPLACE] = "replace", [MM_APPEND] = "append",
		[MM_PREPEND] = "prepend", [MM_CAS] = "cas",
	};
	enum mm_mode mode = MM_SET;

	while (!mm_word_is(command, names[mode]))
		mode++;
	return mode;
}

/* An old value is worse than no value. */
static void refuse(struct mm_call *call, enum mm_mode mode, size_t len,
		   const char *why)
{
	struct mm_item *old;

	mm_reply(call, why);
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
	uint32_t flags, end_s;
	int32_t exptime, len;

	if (!has_words(call, words, words + 1))
		return;
	note_silence(call);
	if (!is_key(call))
		return;
	if (!mm_read_u32(w->v[2].s, &flags) ||
	    !mm_read_i32(w->v[3].s, &exptime) ||
	    !mm_read_i32(w->v[4].s, &len) ||
	    (words == 6 && !mm_read_u64(w->v[5].s, &store.cas)) || len < 0 ||
	    len > INT_MAX - 2) {
		mm_reply(call, MM_BAD_FORMAT);
		return;
	}
	end_s = mm_end_of(c->server, exptime);
	if (!mm_item_fits(w->v[1].len, flags, (size_t)len)) {
		refuse(call, store.mode, (size_t)len, MM_TOO_LARGE);
		return;
	}
	store.item = mm_items_alloc(call->items, w->v[1], flags, end_s);
	if (!store.item) {
		refuse(call, store.mode, (size_t)len, MM_NO_MEMORY);
		return;
	}
	store.len = (size_t)len + 2;
	c->store = store;
}

/* ---- Others -------------------------------------------------------------- */

void mm_touch(struct mm_call *call)
{
	struct mm_item *item;
	int32_t exptime;

	if (!has_words(call, 3, 4))
		return;
	note_silence(call);
	if (!is_key(call))
		return;
	if (!mm_read_i32(call->words.v[2].s, &exptime)) {
		mm_reply(call, "CLIENT_ERROR invalid exptime argument");
		return;
	}
	item = mm_items_find(call->items, call->words.v[1]);
	if (item) {
		mm_items_fetched(call->items, item);
		item->end_s = mm_end_of(call->conn->server, exptime);
	}
	mm_reply(call, item ? "TOUCHED" : "NOT_FOUND");
}

void mm_arithmetic(struct mm_call *call)
{
	static const char *const errors[] = {
		[MM_NO_ITEM] = "NOT_FOUND",
		[MM_NO_NUMBER] = "CLIENT_ERROR cannot increment or decrement "
				 "non-numeric value",
		[MM_NO_ROOM] = "SERVER_ERROR out of memory",
	};
	struct mm_delta delta = { .is_less = *call->words.v[0].s == 'd' };
	char text[MM_NUMBER_SIZE];
	struct mm_item *item;
	enum mm_added rc;
	int is_new;

	if (!has_words(call, 3, 4))
		return;
	note_silence(call);
	if (!is_key(call))
		return;
	if (!mm_read_u64(call->words.v[2].s, &delta.by)) {
		mm_reply(call, "CLIENT_ERROR invalid numeric delta argument");
		return;
	}
	rc = mm_add_delta(call->items, call->words.v[1], &delta, text, &item,
			  &is_new);
	mm_reply(call, rc == MM_ADDED ? text : errors[rc]);
}

/* "delete KEY [0] [noreply]" */
void mm_delete(struct mm_call *call)
{
	const struct mm_words *w = &call->words;
	struct mm_item *item;

	if (!has_words(call, 2, 4))
		return;
	if (w->n > 2) {
		int is_zero = mm_word_is(w->v[2], "0");

		note_silence(call);
		if (w->n == 3 ? !is_zero && !call->conn->is_silent :
				!is_zero || !call->conn->is_silent) {
			mm_reply(call, MM_BAD_FORMAT ".  Usage: delete <key> "
						     "[noreply]");
			return;
		}
	}
	if (!is_key(call))
		return;
	item = mm_items_find(call->items, w->v[1]);
	if (item)
		mm_items_remove(call->items, item);
	mm_reply(call, item ? "DELETED" : "NOT_FOUND");
}

/* "flush_all [SECONDS] [noreply]" */
void mm_flush_all(struct mm_call *call)
{
	const struct mm_words *w = &call->words;
	int32_t in_s = 0;

	if (!has_words(call, 1, 3))
		return;
	note_silence(call);
	if (w->n != (call->conn->is_silent ? 2 : 1) &&
	    !mm_read_i32(w->v[1].s, &in_s)) {
		mm_reply(call, "CLIENT_ERROR invalid exptime argument");
		return;
	}
	mm_flush(call->conn->server, in_s);
	mm_reply(call, "OK");
}

void mm_verbosity(struct mm_call *call)
{
	if (!has_words(call, 2, 3))
		return;
	note_silence(call);
	mm_reply(call, "OK");
}
