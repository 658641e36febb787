/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-offs per second between processes that all want the same lock. */
#include "bench/worker.h"

#define ROUNDS 7

/* The CPUs on which the processes happen to run make a factor of two, so each
 * round starts new processes. */
static double rate(const struct bench_store *s, int which, unsigned int n)
{
	struct workers w = { .store = s, .waiters = n };
	uint64_t before, after;
	int64_t begin, end;

	workers_start(&w, n);
	workers_order(&w, WORKER_OPEN, which);
	workers_order(&w, WORKER_QUEUE, which);
	bench_sleep(50 * BENCH_MS);
	before = atomic_load(&w.shared->count);
	begin = bench_now();
	bench_sleep((int64_t)(run->seconds * 1e9 / (2 * ROUNDS)));
	after = atomic_load(&w.shared->count);
	end = bench_now();
	workers_end(&w);
	return (double)(after - before) * 1e9 / (double)(end - begin);
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct bench_turns turns = bench_turns(ROUNDS, 1);
	struct bench_result res = BENCH_RESULT;

	for (int i = 0; i < ROUNDS; i++) {
		double per_second[2];

		for (int which = 0; which < 2; which++)
			per_second[which] = rate(s, which, c->n);
		bench_turn(&turns, per_second);
	}
	bench_extra(&res, c->n, "processes");
	bench_extra(&res, bench_percentile(&turns.ratio, 0), "least");
	bench_extra(&res, bench_percentile(&turns.ratio, 100), "most");
	bench_turns_figures(&turns, &res);
	bench_emit(&res, c);
}

const struct workload workload_contended = { .measure = measure };
