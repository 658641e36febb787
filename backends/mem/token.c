/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mem/token.h"

#include <time.h>

static uint64_t floor_token; /* under dlki_mem_mu */

/* The microseconds since 1970 at `t`.  The wall clock is read once, and may be
 * set later: a process's tokens follow the boot-time clock. */
static uint64_t us_at(dlk_time t)
{
	static uint64_t ahead; /* of the wall clock; under dlki_mem_mu */
	struct timespec ts;

	if (ahead == 0) {
		clock_gettime(CLOCK_REALTIME, &ts);
		ahead = (uint64_t)ts.tv_sec * 1000000 +
			(uint64_t)ts.tv_nsec / 1000 -
			(uint64_t)dlk_now() / 1000;
	}
	return ahead + (uint64_t)t / 1000;
}

uint64_t dlki_mem_token_next(struct mem_queue *queue, dlk_time asked)
{
	uint64_t us = us_at(asked);
	uint64_t last = queue->last_token > floor_token ? queue->last_token :
							  floor_token;

	queue->last_token = us > last ? us : last + 1;
	return queue->last_token;
}

uint64_t dlki_mem_token_reserve(struct mem_queue *queue, uint64_t token)
{
	uint64_t end = us_at(dlk_now()) + DLK_TOKENS_AHEAD;

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
