/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backoff with decorrelated jitter: each pause is drawn between the least pause
 * and three times the last, up to the greatest.  Pure: the caller brings the
 * state.  After Brooker, "Exponential Backoff And Jitter", 2015.
 */
#ifndef DLOCK_CORE_BASE_BACKOFF_H
#define DLOCK_CORE_BASE_BACKOFF_H

#include <dlock/backend.h>

struct dlki_backoff {
	uint32_t min_us, max_us; /* 0 < min <= max */
	int64_t last_ns;
	uint64_t random;        /* state; any seed but 0 */
};

void dlki_backoff_init(struct dlki_backoff *b, int64_t min_ms, int64_t max_ms,
		       uint64_t seed);

/* Return the next pause, min to max. */
int64_t dlki_backoff_next(struct dlki_backoff *b);

#endif
