/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/redis/zset.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"

static void free_member(void *value)
{
	struct rm_member *member = value;

	free((char *)member->text.s);
	free(member);
}

void rm_zset_clear(struct rm_zset *z)
{
	rm_map_clear(&z->by_text, free_member);
	free(z->ordered);
	*z = (struct rm_zset){ 0 };
}

struct rm_member *rm_zset_find(const struct rm_zset *z, struct rm_text member)
{
	struct rm_entry *entry = rm_map_find(&z->by_text, member);

	return entry ? entry->value : NULL;
}

/* Return the first of `n` places with a member not before `member`. */
static size_t place_of(const struct rm_zset *z, size_t n,
		       const struct rm_member *member)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct rm_member *m = z->ordered[mid];

		if (m->score < member->score ||
		    (!(m->score > member->score) &&
		     rm_compare(m->text, member->text) < 0))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

size_t rm_zset_rank(const struct rm_zset *z, const struct rm_member *member)
{
	return place_of(z, rm_zset_n(z), member);
}

/* `n` members stand in order, and `member` does not yet. */
static void insert(struct rm_zset *z, size_t n, struct rm_member *member)
{
	size_t at = place_of(z, n, member);

	if (n == z->room) {
		z->room = 2 * z->room + 4;
		z->ordered = sim_grow(z->ordered, z->room, sizeof(member));
	}
	memmove(&z->ordered[at + 1], &z->ordered[at],
		(n - at) * sizeof(member));
	z->ordered[at] = member;
}

static void take_out(struct rm_zset *z, const struct rm_member *member)
{
	size_t at = rm_zset_rank(z, member);

	memmove(&z->ordered[at], &z->ordered[at + 1],
		(rm_zset_n(z) - at - 1) * sizeof(member));
}

int rm_zset_add(struct rm_zset *z, struct rm_text text, double score)
{
	struct rm_entry *entry = rm_map_add(&z->by_text, text);
	struct rm_member *member = entry->value;
	int is_new = !member;

	if (is_new) {
		member = sim_alloc(sizeof(*member));
		member->text = (struct rm_text){ sim_copy(text.s, text.len),
						 text.len };
		entry->value = member;
	} else {
		take_out(z, member);
	}
	member->score = score + 0.0; /* minus zero is zero */
	insert(z, rm_zset_n(z) - 1, member);
	return is_new;
}

int rm_zset_remove(struct rm_zset *z, struct rm_text text)
{
	struct rm_entry *entry = rm_map_find(&z->by_text, text);

	if (!entry)
		return 0;
	take_out(z, entry->value);
	free_member(rm_map_remove(&z->by_text, entry));
	return 1;
}
