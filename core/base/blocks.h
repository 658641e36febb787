/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory of one size, a few of which are kept for reuse.
 */
#ifndef DLOCK_CORE_BASE_BLOCKS_H
#define DLOCK_CORE_BASE_BLOCKS_H

#include <stddef.h>

struct dlki_blocks {
	void *first; /* of those that are kept; it has the next one's address */
	unsigned int kept;
};

/* A block of zeroes, or NULL.  `size` is a pointer's at least, and always the
 * same. */
void *dlki_blocks_get(struct dlki_blocks *b, size_t size);
void dlki_blocks_put(struct dlki_blocks *b, void *block);

/* Free those that are kept. */
void dlki_blocks_destroy(struct dlki_blocks *b);

#endif
