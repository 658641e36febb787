/* SPDX-License-Identifier: Apache-2.0 */
/* The meta protocol: requests that store and remove. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sim/memcached/commands.h"
#include "sim/memcached/flags.h"

/* ---- ms ------------------------------------------------------------------ */

/* 0: unknown. */
static int read_mode(const struct mm_flags *f, enum mm_mode *mode)
{
	switch (f->mode) {
	case '\0':
	case 'S':
		*mode = MM_SET;
		break;
	case 'E':
		*mode = MM_ADD;
		break;
	case 'A':
		*mode = MM_APPEND;
		break;
	case 'P':
		*mode = MM_PREPEND;
		break;
	case 'R':
		*mode = MM_REPLACE;
		break;
	default:
		return 0;
	}
	if (f->has_cas && (*mode == MM_SET || *mode == MM_REPLACE))
		*mode = MM_CAS;
	return 1;
}

/* An item for the data block.  NULL: *error says why, and the stored item is
 * removed, whatever the mode. */
static struct mm_item *alloc_item(const struct mm_call *call,
				  const struct mm_flags *f, size_t len,
				  const char **error)
{
	struct mm_text key = call->words.v[1];
	struct mm_item *old, *item = NULL;

	if (mm_item_fits(key.len, f->client, len))
		item = mm_items_alloc(call->items, key, f->client, f->end_s);
	if (item)
		return item;
	*error = mm_item_fits(key.len, f->client, len) ? MM_NO_MEMORY :
							 MM_TOO_LARGE;
	old = mm_items_find(call->items, key);
	if (old)
		mm_items_remove(call->items, old);
	return NULL;
}

static void put_tail(const struct mm_call *call, const struct mm_flags *f,
		     struct sim_bytes *tail)
{
	for (size_t i = f->first; i < call->words.n; i++) {
		mm_flags_echo(tail, call->words.v[i], call->words.v[1]);
		if (*call->words.v[i].s == 'c')
			sim_bytes_text_add(tail, " c");
	}
}

void mm_meta_set(struct mm_call *call)
{
	struct sim_memc_conn *c = call->conn;
	struct mm_store store = { .is_meta = 1 };
	struct mm_flags f;
	const char *error;
	int32_t len;

	if (!mm_flags_may_follow(call, "CLIENT_ERROR options flags too long"))
		return;
	if (call->words.n < 3 || !mm_read_i32(call->words.v[2].s, &len) ||
	    len < 0 || len > INT_MAX - 2) {
		mm_reply_error(call, MM_BAD_FORMAT);
		return;
	}
	error = mm_flags_read(call, 3, &f);
	if (!error && !read_mode(&f, &store.mode))
		error = "CLIENT_ERROR invalid mode for ms M token";
	if (!error && !mm_flags_opaque_fits(call, &f))
		error = MM_OPAQUE_TOO_LONG;
	if (!error)
		store.item = alloc_item(call, &f, (size_t)len, &error);
	if (error) {
		mm_reply_error(call, error);
		c->swallow = (size_t)len + 2;
		return;
	}
	store.cas = f.cas;
	store.is_stale = f.is_stale;
	store.len = (size_t)len + 2;
	c->is_silent = f.is_silent;
	put_tail(call, &f, &store.tail);
	c->store = store;
}

/* ---- md ------------------------------------------------------------------ */

/* The next client that reads the item is told to store it anew. */
static void make_stale(struct mm_items *all, struct mm_item *item,
		       const struct mm_flags *f)
{
	if (f->has_end)
		item->end_s = f->end_s;
	item->is_stale = 1;
	item->has_winner = 0;
	item->cas = mm_items_next_cas(all);
}

/* Read the flags.  NULL, or the reply with the error. */
static const char *read_change(const struct mm_call *call, struct mm_flags *f)
{
	if (mm_flags_read(call, 2, f))
		return "CLIENT_ERROR invalid or duplicate flag";
	return mm_flags_opaque_fits(call, f) ? NULL : MM_OPAQUE_TOO_LONG;
}

void mm_meta_delete(struct mm_call *call)
{
	struct mm_item *item;
	struct mm_flags f;
	const char *error;

	if (!mm_flags_may_follow(call, "CLIENT_ERROR options flags too long"))
		return;
	error = read_change(call, &f);
	if (error) {
		mm_reply_error(call, error);
		return;
	}
	item = mm_items_find(call->items, call->words.v[1]);
	if (!item) {
		mm_flags_put_line(call, "NF", &f);
	} else if (f.has_cas && f.cas != item->cas) {
		mm_flags_put_line(call, "EX", &f);
	} else {
		if (f.is_stale)
			make_stale(call->items, item, &f);
		else
			mm_items_remove(call->items, item);
		if (!f.is_silent)
			mm_flags_put_line(call, "HD", &f);
	}
}

/* ---- ma ------------------------------------------------------------------ */

/* Make the missing item, with the initial number. */
static enum mm_added make_number(const struct mm_call *call,
				 const struct mm_flags *f,
				 char text[MM_NUMBER_SIZE],
				 struct mm_item **out)
{
	*out = mm_items_alloc(call->items, call->words.v[1], 0, 0);
	if (!*out)
		return MM_NO_ROOM;
	snprintf(text, MM_NUMBER_SIZE, "%" PRIu64, f->initial);
	sim_bytes_text_add(&(*out)->value, text);
	mm_items_link(call->items, *out);
	return MM_ADDED;
}

/* A number that became longer is in a new item.  T changes the end of the
 * former item, and the reply tells that end. */
static void put_number(const struct mm_call *call, const struct mm_flags *f,
		       struct mm_item *item, int is_made, int is_new,
		       const char *text)
{
	struct sim_bytes *out = &call->conn->out;
	uint32_t end_s = item->end_s;

	if (f->has_value)
		sim_bytes_printf(out, "VA %zu", strlen(text));
	else
		sim_bytes_text_add(out, "HD");
	for (size_t i = f->first; i < call->words.n; i++) {
		struct mm_text word = call->words.v[i];

		mm_flags_echo(out, word, call->words.v[1]);
		if (*word.s == 'c')
			sim_bytes_printf(out, " c%" PRIu64, item->cas);
		else if (*word.s == 't')
			mm_put_left(out, call->items, end_s);
		else if (*word.s == 'T')
			end_s = f->end_s;
		else if (*word.s == 'N' && is_made)
			end_s = f->made_end_s;
	}
	if (!is_new)
		item->end_s = end_s;
	sim_bytes_text_add(out, "\r\n");
	if (f->has_value)
		sim_bytes_printf(out, "%s\r\n", text);
}

static const char *read_arithmetic(const struct mm_call *call,
				   struct mm_flags *f, struct mm_delta *delta)
{
	const char *error = read_change(call, f);

	if (error)
		return error;
	*delta = (struct mm_delta){ .by = f->delta,
				    .is_less = f->mode == 'D' || f->mode == '-',
				    .cas = f->cas };
	if (f->mode != '\0' && !strchr("I+D-", f->mode))
		return "CLIENT_ERROR invalid mode for ma M token";
	return NULL;
}

void mm_meta_arithmetic(struct mm_call *call)
{
	char text[MM_NUMBER_SIZE];
	struct mm_item *item = NULL;
	struct mm_delta delta;
	struct mm_flags f;
	const char *error;
	enum mm_added rc;
	int is_new = 0, is_made;

	if (!mm_flags_may_follow(call, "CLIENT_ERROR options flags too long"))
		return;
	error = read_arithmetic(call, &f, &delta);
	if (error) {
		mm_reply_error(call, error);
		return;
	}
	rc = mm_add_delta(call->items, call->words.v[1], &delta, text, &item,
			  &is_new);
	is_made = rc == MM_NO_ITEM && f.makes;
	if (is_made)
		rc = make_number(call, &f, text, &item);
	if (rc == MM_ADDED && (is_made || !f.is_silent))
		put_number(call, &f, item, is_made, is_new, text);
	else if (rc == MM_NO_ITEM)
		mm_flags_put_line(call, "NF", &f);
	else if (rc == MM_OTHER_CAS)
		mm_flags_put_line(call, "EX", &f);
	else if (rc == MM_NO_NUMBER)
		mm_reply_error(call, "CLIENT_ERROR cannot increment or "
				     "decrement non-numeric value");
	else if (rc == MM_NO_ROOM)
		mm_reply_error(call, is_made ? "SERVER_ERROR Out of memory "
					       "allocating new item" :
					       "SERVER_ERROR out of memory");
}
