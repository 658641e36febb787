/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The breaker takes locks away from the holders by dlock_break(), lock by lock,
 * and notes each break as a wipe.  In a run a single thread has a breaker.
 */
#ifndef DLOCK_CHAOS_BREAKER_H
#define DLOCK_CHAOS_BREAKER_H

#include "chaos/random.h"
#include "chaos/use.h"

struct chaos_breaker {
	dlock_client *client; /* borrowed */
	struct lab_history *history;
	struct chaos_counters *counters;
	struct chaos_random random;
	int64_t ttl_ms;
	int64_t next; /* 0: before the first break */
};

/* Break a lock, if it is time; return whether it was.  For a time in which the
 * store answers: a request without an answer is repeated.  `stopped`: a worker
 * may be stopped meanwhile. */
bool chaos_breaker_turn(struct chaos_breaker *b, bool stopped);

#endif
