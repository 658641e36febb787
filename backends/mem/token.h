/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens: microseconds since 1970, and larger than every token of the same lock
 * before.  Each queue has the last token; the last token of all queues freed is
 * below every new token.
 *
 * All functions need dlki_mem_mu.
 */
#ifndef DLOCK_BACKENDS_MEM_TOKEN_H
#define DLOCK_BACKENDS_MEM_TOKEN_H

#include "backends/mem/queue.h"

/* Return the token for a hold; the attempt began at `asked`. */
uint64_t dlki_mem_token_next(struct mem_queue *queue, dlk_time asked);

/* Set tokens aside for a holder with `token`; return the last of them, which is
 * DLK_TOKENS_AHEAD ahead of the clock. */
uint64_t dlki_mem_token_reserve(struct mem_queue *queue, uint64_t token);

/* Take back the tokens set aside beyond `used`, the last given to a hold. */
void dlki_mem_token_return(struct mem_queue *queue, uint64_t used);

/* Raise the floor of all queues: this queue will be freed. */
void dlki_mem_token_end(const struct mem_queue *queue);

#endif
