/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of a semaphore, as the items say: the number of permits as the
 * users name it; or, set by an operator, a number of permits together with a
 * number of slots: no slot from there on is taken.  The slots are more than the
 * permits after the number was made smaller.
 *
 * A client of an earlier version takes a set limit for a number of permits,
 * other than the client's own.  Pure.
 */
#ifndef DLOCK_MEMCACHED_PROTOCOL_LIMIT_H
#define DLOCK_MEMCACHED_PROTOCOL_LIMIT_H

#include "backends/memcached/protocol/item.h"

enum { MEMC_LIMIT_BITS = 10, MEMC_LIMIT_SET = 1 << (2 * MEMC_LIMIT_BITS) };

_Static_assert(MEMC_PERMITS == 1 << MEMC_LIMIT_BITS, "two numbers fit");

static inline int dlki_memc_limit_is_set(uint32_t limit)
{
	return limit / MEMC_LIMIT_SET == 1;
}

/* Return a set limit: 1 to MEMC_PERMITS permits, and as many slots or more, up
 * to MEMC_PERMITS. */
static inline uint32_t dlki_memc_limit_set(int permits, int slots)
{
	return (uint32_t)(MEMC_LIMIT_SET | (slots - 1) << MEMC_LIMIT_BITS |
			  (permits - 1));
}

/* Return how many permits there are. */
static inline uint32_t dlki_memc_limit_permits(uint32_t limit)
{
	return dlki_memc_limit_is_set(limit) ? limit % MEMC_PERMITS + 1 : limit;
}

/* Return how many slots may be taken. */
static inline int dlki_memc_limit_slots(uint32_t limit)
{
	if (dlki_memc_limit_is_set(limit))
		limit = (limit >> MEMC_LIMIT_BITS) % MEMC_PERMITS + 1;
	return limit < MEMC_PERMITS ? (int)limit : MEMC_PERMITS;
}

#endif
