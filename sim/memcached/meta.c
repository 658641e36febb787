/* SPDX-License-Identifier: Apache-2.0 */
/* The meta protocol: requests that leave the items' values alone. */
#include <inttypes.h>

#include "sim/memcached/commands.h"
#include "sim/memcached/flags.h"

/* ---- mg ------------------------------------------------------------------ */

/* Append to the reply, or change the item, as a flag says.  Returns whether the
 * client is told to store the item anew. */
static int take_flag(const struct mm_call *call, const struct mm_flags *f,
		     struct mm_item *item, int is_new, struct mm_text word)
{
	const struct mm_items *all = call->items;
	struct sim_bytes *out = &call->conn->out;

	mm_flags_echo(out, word, call->words.v[1]);
	switch (*word.s) {
	case 'T':
		item->end_s = f->end_s;
		break;
	case 'N':
		if (is_new)
			item->end_s = f->made_end_s;
		return is_new;
	case 'R':
		return !item->has_winner && !is_new && item->end_s != 0 &&
		       item->end_s < f->recache_s;
	case 's':
		sim_bytes_printf(out, " s%zu", item->value.len);
		break;
	case 't':
		mm_put_left(out, all, item->end_s);
		break;
	case 'c':
		sim_bytes_printf(out, " c%" PRIu64, item->cas);
		break;
	case 'f':
		sim_bytes_printf(out, " f%" PRIu32, item->flags);
		break;
	case 'l':
		sim_bytes_printf(out, " l%" PRIu32, all->now_s - item->time_s);
		break;
	case 'h':
		sim_bytes_printf(out, " h%d", item->is_fetched);
		break;
	default:
		break;
	}
	return 0;
}

static void put_item(const struct mm_call *call, const struct mm_flags *f,
		     struct mm_item *item, int is_new)
{
	struct sim_bytes *out = &call->conn->out;
	int wins = 0;

	if (f->has_value)
		sim_bytes_printf(out, "VA %zu", item->value.len);
	else
		sim_bytes_text_add(out, "HD");
	for (size_t i = f->first; i < call->words.n; i++)
		wins |= take_flag(call, f, item, is_new, call->words.v[i]);
	if (item->has_winner)
		sim_bytes_text_add(out, " Z");
	if (item->is_stale)
		sim_bytes_text_add(out, " X");
	if (wins || (item->is_stale && !item->has_winner)) {
		sim_bytes_text_add(out, " W");
		item->has_winner = 1;
	}
	sim_bytes_text_add(out, "\r\n");
	if (!f->has_value)
		return;
	sim_bytes_add(out, sim_bytes_text(&item->value), item->value.len);
	sim_bytes_text_add(out, "\r\n");
}

void mm_meta_get(struct mm_call *call)
{
	struct mm_flags f;
	struct mm_item *item;
	const char *error;
	int is_new;

	if (!mm_flags_may_follow(call,
				 "CLIENT_ERROR options flags are too long"))
		return;
	error = mm_flags_read(call, 2, &f);
	if (!error && !mm_flags_opaque_fits(call, &f))
		error = MM_OPAQUE_TOO_LONG;
	if (error) {
		mm_reply_error(call, error);
		return;
	}
	item = mm_items_find(call->items, call->words.v[1]);
	is_new = !item && f.makes;
	if (is_new)
		item = mm_items_alloc(call->items, call->words.v[1], 0, 0);
	if (is_new && item)
		mm_items_link(call->items, item);
	if (item)
		put_item(call, &f, item, is_new);
	else if (!f.is_silent)
		mm_flags_put_line(call, "EN", &f);
	if (item && !f.is_look)
		mm_items_fetched(call->items, item);
}

/* ---- me ------------------------------------------------------------------ */

/* Sizes of memory grow by a quarter, from 96 on. */
static unsigned int class_of(size_t size)
{
	unsigned int class = 1;
	size_t most = 96;

	while (size > most) {
		most = (size_t)((double)most * 1.25);
		most += (8 - most % 8) % 8;
		class ++;
	}
	return class;
}

void mm_meta_debug(struct mm_call *call)
{
	const struct mm_items *all = call->items;
	const struct mm_item *item;
	size_t size;

	if (call->words.n < 2 || call->words.v[1].len > MM_KEY_MAX) {
		mm_reply_error(call, MM_BAD_FORMAT);
		return;
	}
	item = mm_items_find(call->items, call->words.v[1]);
	if (!item) {
		mm_reply_error(call, "EN");
		return;
	}
	size = mm_item_size(item->key_len, item->flags, item->value.len);
	sim_bytes_printf(&call->conn->out,
			 "ME %s exp=%" PRId32 " la=%" PRIu32 " cas=%" PRIu64
			 " fetch=%s cls=%u size=%zu\r\n",
			 item->key,
			 item->end_s == 0 ? -1 :
					    (int32_t)(all->now_s - item->end_s),
			 all->now_s - item->time_s, item->cas,
			 item->is_fetched ? "yes" : "no", class_of(size), size);
}
