/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SCAN.  Each key has a place, by a hash of the name, and the cursor is the
 * place of the next key.  So a key that stays is returned, also when other keys
 * come and go between the steps.
 */
#include <stdlib.h>

#include "sim/base/memory.h"
#include "sim/redis/call.h"
#include "sim/redis/commands.h"

struct options {
	struct rm_text pattern;
	int64_t count;
};

/* Never 0: the first cursor, and the last. */
static uint64_t place_of(struct rm_text key)
{
	uint64_t n = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < key.len; i++)
		n = (n ^ (unsigned char)key.s[i]) * UINT64_C(1099511628211);
	return n >> 16 | 1;
}

/* 1; or the reply is an error. */
static int read_options(const struct rm_call *call, struct options *out)
{
	*out = (struct options){ .pattern = { "*", 1 }, .count = 10 };
	for (size_t i = 2; i + 1 < call->argc; i += 2) {
		if (rm_is(call->argv[i], "match")) {
			out->pattern = call->argv[i + 1];
		} else if (!rm_is(call->argv[i], "count")) {
			rm_reply_syntax(call);
			return 0;
		} else if (!rm_integer_arg(call, i + 1, &out->count)) {
			return 0;
		}
	}
	if (call->argc % 2 != 0 || out->count < 1) {
		rm_reply_syntax(call);
		return 0;
	}
	return 1;
}

static int compare_places(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Return the place `count` keys behind `from`; 0: past the last key. */
static uint64_t next_place(const struct rm_db *db, uint64_t from, int64_t count)
{
	uint64_t *places = sim_alloc((db->keys.n + 1) * sizeof(*places));
	uint64_t next = 0;
	size_t n = 0;

	for (size_t i = 0; i < db->keys.n; i++) {
		places[n] = place_of(db->keys.entries[i].key);
		n += places[n] >= from;
	}
	qsort(places, n, sizeof(*places), compare_places);
	if ((uint64_t)count < n)
		next = places[count];
	free(places);
	return next;
}

static int is_found(struct rm_text key, uint64_t from, uint64_t to,
		    struct rm_text pattern)
{
	uint64_t place = place_of(key);

	return place >= from && (to == 0 || place < to) &&
	       rm_matches(pattern, key);
}

void rm_scan(const struct rm_call *call)
{
	struct rm_db *db = rm_db_of(call);
	struct sim_bytes cursor = { 0 };
	struct options options;
	uint64_t from, to;
	int64_t value;
	size_t n = 0;

	if (!rm_integer(call->argv[1], &value) || value < 0) {
		rm_reply_error(call->out, "ERR invalid cursor");
		return;
	}
	if (!read_options(call, &options))
		return;
	rm_db_expire(db, rm_now_ms(call));
	from = (uint64_t)value;
	to = next_place(db, from, options.count);
	sim_bytes_printf(&cursor, "%llu", (unsigned long long)to);
	rm_reply_array(call->out, 2);
	rm_reply_word(call->out, sim_bytes_text(&cursor));
	sim_bytes_free(&cursor);
	for (size_t i = 0; i < db->keys.n; i++)
		n += is_found(db->keys.entries[i].key, from, to,
			      options.pattern) != 0;
	rm_reply_array(call->out, n);
	for (size_t i = 0; i < db->keys.n; i++) {
		if (is_found(db->keys.entries[i].key, from, to,
			     options.pattern))
			rm_reply_text(call->out, db->keys.entries[i].key);
	}
}
