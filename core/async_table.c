/* SPDX-License-Identifier: Apache-2.0 */
#include "core/async_table.h"

#include <stdlib.h>

#include "core/async.h"

static struct dlki_async **bucket_of(const struct dlki_async_table *t,
				     uint64_t op)
{
	return &t->bucket[op & (t->room - 1)];
}

static void put(struct dlki_async_table *t, struct dlki_async *call)
{
	struct dlki_async **bucket = bucket_of(t, call->op);

	call->table_next = *bucket;
	*bucket = call;
}

/* Without memory for more buckets the old buckets serve, if there are any. */
int dlki_async_table_reserve(struct dlki_async_table *t)
{
	struct dlki_async_table more = *t;

	if (t->n < t->room)
		return 0;
	more.room = t->room ? 2 * t->room : 16;
	more.bucket = calloc(more.room, sizeof(struct dlki_async *));
	if (!more.bucket)
		return t->room ? 0 : DLOCK_ENOMEM;
	for (size_t i = 0; i < t->room; i++) {
		struct dlki_async *next;

		for (struct dlki_async *r = t->bucket[i]; r; r = next) {
			next = r->table_next;
			put(&more, r);
		}
	}
	free(t->bucket);
	*t = more;
	return 0;
}

void dlki_async_table_destroy(struct dlki_async_table *t)
{
	free(t->bucket);
}

void dlki_async_table_add(struct dlki_async_table *t, struct dlki_async *call)
{
	call->op = ++t->last;
	put(t, call);
	t->n++;
}

void dlki_async_table_remove(struct dlki_async_table *t,
			     struct dlki_async *call)
{
	struct dlki_async **at = bucket_of(t, call->op);

	while (*at != call)
		at = &(*at)->table_next;
	*at = call->table_next;
	t->n--;
}

struct dlki_async *dlki_async_table_find(const struct dlki_async_table *t,
					 uint64_t op)
{
	struct dlki_async *r = t->room ? *bucket_of(t, op) : NULL;

	while (r && r->op != op)
		r = r->table_next;
	return r;
}
