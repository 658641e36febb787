/* SPDX-License-Identifier: Apache-2.0 */
/* The meta protocol. */
#include <inttypes.h>
#include <string.h>

#include "sim/memcached/commands.h"

static int has_key(const struct mm_call *call)
{
	if (call->words.n < 2) {
		mm_reply(call, "ERROR");
		return 0;
	}
	return mm_is_key(call, call->words.v[1]);
}

/* ---- mg ------------------------------------------------------------------ */

static void put_left(struct sim_bytes *out, const struct mm_items *all,
		     const struct mm_item *item)
{
	if (item->end_s == 0)
		sim_bytes_text_add(out, " t-1");
	else
		sim_bytes_printf(out, " t%" PRIu32, item->end_s - all->now_s);
}

static void put_item(const struct mm_call *call, const struct mm_item *item,
		     int with_value)
{
	struct sim_bytes *out = &call->conn->out;

	if (with_value)
		sim_bytes_printf(out, "VA %zu", item->value.len);
	else
		sim_bytes_text_add(out, "HD");
	for (size_t i = 2; i < call->words.n; i++) {
		if (*call->words.v[i].s == 't')
			put_left(out, call->items, item);
		else if (*call->words.v[i].s == 'c')
			sim_bytes_printf(out, " c%" PRIu64, item->cas);
	}
	sim_bytes_text_add(out, "\r\n");
	if (!with_value)
		return;
	sim_bytes_add(out, sim_bytes_text(&item->value), item->value.len);
	sim_bytes_text_add(out, "\r\n");
}

/* "mg KEY [v] [c] [t]", in any order */
void mm_meta_get(struct mm_call *call)
{
	struct mm_item *item;
	int with_value = 0;

	if (!has_key(call))
		return;
	for (size_t i = 2; i < call->words.n; i++) {
		struct mm_text word = call->words.v[i];

		if (word.len != 1 || !strchr("vct", *word.s)) {
			mm_reply(call, "CLIENT_ERROR invalid flag");
			return;
		}
		with_value |= *word.s == 'v';
	}
	item = mm_items_find(call->items, call->words.v[1]);
	if (!item) {
		mm_reply(call, "EN");
		return;
	}
	mm_items_fetched(call->items, item);
	put_item(call, item, with_value);
}

/* ---- md, mn -------------------------------------------------------------- */

/* "md KEY [C<number>]" */
void mm_meta_delete(struct mm_call *call)
{
	const struct mm_words *w = &call->words;
	int has_cas = w->n == 3;
	struct mm_item *item;
	uint64_t cas = 0;

	if (!has_key(call))
		return;
	if (w->n > 3 || (has_cas && (*w->v[2].s != 'C' ||
				     !mm_read_u64(w->v[2].s + 1, &cas)))) {
		mm_reply(call, "CLIENT_ERROR invalid or duplicate flag");
		return;
	}
	item = mm_items_find(call->items, w->v[1]);
	if (!item) {
		mm_reply(call, "NF");
	} else if (has_cas && cas != item->cas) {
		mm_reply(call, "EX");
	} else {
		mm_items_remove(call->items, item);
		mm_reply(call, "HD");
	}
}

void mm_meta_none(struct mm_call *call)
{
	mm_reply(call, "MN");
}
