/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: microseconds since 1970, and larger than every token of the same lock
 * before it.  Each queue knows its last one; the last one of all queues that
 * were freed is below every new one.
 *
 * All functions need dlki_mem_mu.
 */
#ifndef DLOCK_BACKENDS_MEM_TOKEN_H
#define DLOCK_BACKENDS_MEM_TOKEN_H

#include "backends/mem/queue.h"

uint64_t dlki_mem_token_next(struct mem_queue *queue);

/* Set tokens aside for a holder with `token`: returns the last of them.  They
 * end DLK_TOKENS_AHEAD ahead of the clock. */
uint64_t dlki_mem_token_reserve(struct mem_queue *queue, uint64_t token);

/* Of those set aside, `used` was the last that a hold was given. */
void dlki_mem_token_return(struct mem_queue *queue, uint64_t used);

/* The queue will be freed. */
void dlki_mem_token_end(const struct mem_queue *queue);

#endif
