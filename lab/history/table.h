/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from 64-bit keys to places in an array.  Internal. */
#ifndef DLOCK_LAB_TABLE_H
#define DLOCK_LAB_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define LAB_NOWHERE SIZE_MAX

struct lab_table {
	struct lab_table_slot *slots;
	size_t mask;
	size_t used;
};

/* For about `n` keys. */
int lab_table_init(struct lab_table *t, size_t n);
void lab_table_free(struct lab_table *t);

/* Return the place of `key`, LAB_NOWHERE for a new key; valid until the next
 * call.  NULL: out of memory. */
size_t *lab_table_at(struct lab_table *t, uint64_t key);

/* NULL: there is no such key. */
size_t *lab_table_find(struct lab_table *t, uint64_t key);

#endif
