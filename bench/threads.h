/* SPDX-License-Identifier: Apache-2.0 */
/* Several threads of one client, each with a lock of its own. */
#ifndef DLOCK_BENCH_THREADS_H
#define DLOCK_BENCH_THREADS_H

#include "bench/bench.h"

#define BENCH_CROWDS 3

/* Measure and emit a result for each number of threads, at most 64, the first
 * of which is 1.  The others are to do `target` times as much; 0: nothing is
 * promised. */
int bench_threads(struct bench_run *r, const char *uri,
		  const unsigned int size[BENCH_CROWDS], double target);

#endif
