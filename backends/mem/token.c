/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/token.h"

#include <time.h>

static uint64_t floor_token; /* under dlki_mem_mu */

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

uint64_t dlki_mem_token_next(struct mem_queue *queue)
{
	uint64_t us = now_us();
	uint64_t last = queue->last_token > floor_token ? queue->last_token :
							  floor_token;

	queue->last_token = us > last ? us : last + 1;
	return queue->last_token;
}

uint64_t dlki_mem_token_reserve(struct mem_queue *queue, uint64_t token)
{
	uint64_t end = now_us() + DLK_TOKENS_AHEAD;

	if (queue->last_token < token)
		queue->last_token = token;
	if (queue->last_token < end)
		queue->last_token = end;
	return queue->last_token;
}

void dlki_mem_token_return(struct mem_queue *queue, uint64_t used)
{
	queue->last_token = used;
}

void dlki_mem_token_end(const struct mem_queue *queue)
{
	if (queue->last_token > floor_token)
		floor_token = queue->last_token;
}
