/* SPDX-License-Identifier: Apache-2.0 */
/*
 * null: a store that grants whatever is asked, with a lease, and keeps it when
 * it is told to: what the core costs, without a store.
 */
#ifndef DLOCK_BENCH_NULL_H
#define DLOCK_BENCH_NULL_H

#include "bench/bench.h"

struct null_figures {
	uint64_t renewals, batches;
	int64_t latest_ns; /* the most that a renewal came after ttl / 3 */
};

/* Make the scheme known, once.  0, or what bench_fail() returned. */
int null_register(struct bench_run *r);

/* What was renewed since the last call of this. */
struct null_figures null_take_figures(void);

#endif
