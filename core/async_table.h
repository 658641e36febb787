/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asynchronous calls of a client by their numbers, dlock_op.  Needs the
 * client's mu.
 */
#ifndef DLOCK_CORE_ASYNC_TABLE_H
#define DLOCK_CORE_ASYNC_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct dlki_async;

struct dlki_async_table {
	struct dlki_async **bucket; /* `room` of them, a power of two */
	size_t room, n;
	uint64_t last; /* number given */
};

/* Reserve room for another call: 0 or ENOMEM. */
int dlki_async_table_reserve(struct dlki_async_table *table);
void dlki_async_table_destroy(struct dlki_async_table *table);

/* Give the call a number. */
void dlki_async_table_add(struct dlki_async_table *table,
			  struct dlki_async *call);
void dlki_async_table_remove(struct dlki_async_table *table,
			     struct dlki_async *call);

/* NULL: no call has this number. */
struct dlki_async *dlki_async_table_find(const struct dlki_async_table *table,
					 uint64_t op);

#endif
