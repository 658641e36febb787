/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory of one size; a few are kept for reuse.
 */
#ifndef DLOCK_CORE_BASE_BLOCKS_H
#define DLOCK_CORE_BASE_BLOCKS_H

#include <stddef.h>

struct dlki_blocks {
	void *first; /* the first block kept; has the next's address */
	unsigned int kept;
};

/* Get a block of zeroes, or NULL.  `size` is a pointer's at least, and always
 * the same. */
void *dlki_blocks_get(struct dlki_blocks *b, size_t size);
void dlki_blocks_put(struct dlki_blocks *b, void *block);

/* Free the blocks kept. */
void dlki_blocks_destroy(struct dlki_blocks *b);

#endif
