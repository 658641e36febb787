/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/blocks.h"

#include <stdlib.h>
#include <string.h>

/* Under ASan each block is fresh, so that ASan finds a use after the return. */
#ifdef __SANITIZE_ADDRESS__
#define KEPT_MOST 0
#else
#define KEPT_MOST 64
#endif

static void *take_first(struct dlki_blocks *b)
{
	void *block = b->first;

	memcpy(&b->first, block, sizeof(b->first));
	b->kept--;
	return block;
}

void *dlki_blocks_get(struct dlki_blocks *b, size_t size)
{
	if (!b->first)
		return calloc(1, size);
	return memset(take_first(b), 0, size);
}

void dlki_blocks_put(struct dlki_blocks *b, void *block)
{
	if (b->kept == KEPT_MOST) {
		free(block);
		return;
	}
	memcpy(block, &b->first, sizeof(b->first));
	b->first = block;
	b->kept++;
}

void dlki_blocks_destroy(struct dlki_blocks *b)
{
	while (b->first)
		free(take_first(b));
}
