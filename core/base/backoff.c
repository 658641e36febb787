/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/backoff.h"

/* Draw by xorshift64*: jitter needs spread, not secrecy.  After Vigna, "An
 * experimental exploration of Marsaglia's xorshift generators, scrambled",
 * 2016. */
static uint64_t draw(struct dlki_backoff *b)
{
	b->random ^= b->random >> 12;
	b->random ^= b->random << 25;
	b->random ^= b->random >> 27;
	return b->random * UINT64_C(2685821657736338717);
}

/* Draw from lo to hi inclusive; the spans are far below 2^64, and so is the
 * bias. */
static int64_t between(struct dlki_backoff *b, int64_t lo, int64_t hi)
{
	uint64_t span = (uint64_t)(hi - lo) + 1;

	return lo + (int64_t)(draw(b) % span);
}

#define US_NS (DLK_MS / 1000)

static uint32_t us_of(int64_t ms)
{
	return ms < UINT32_MAX / 1000 ? (uint32_t)ms * 1000 : UINT32_MAX;
}

void dlki_backoff_init(struct dlki_backoff *b, int64_t min_ms, int64_t max_ms,
		       uint64_t seed)
{
	b->min_us = us_of(min_ms);
	b->max_us = us_of(max_ms);
	b->last_ns = b->min_us * US_NS;
	b->random = seed ? seed : 1; /* 0 is a fixed point of the generator */
}

int64_t dlki_backoff_next(struct dlki_backoff *b)
{
	int64_t hi = b->max_us * US_NS;

	if (b->last_ns < hi / 3)
		hi = b->last_ns * 3;
	b->last_ns = between(b, b->min_us * US_NS, hi);
	return b->last_ns;
}
