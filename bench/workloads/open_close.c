/* SPDX-License-Identifier: Apache-2.0 */
/* Open a client and close it again. */
#include "bench/store.h"

#define SAMPLES 20000

static double open_close(const struct bench_store *s)
{
	int64_t begin = bench_now();

	dlock_close(store_client(s));
	return (double)(bench_now() - begin) / 1e3;
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct bench_samples took = bench_samples(SAMPLES);
	struct bench_result res = BENCH_RESULT;
	int64_t until;

	for (int i = 0; i < 5; i++)
		open_close(s);
	until = bench_now() + (int64_t)(run->seconds * 1e9 / 3);
	while (took.n < 5 || bench_now() < until)
		bench_sample(&took, open_close(s));
	bench_samples_figures(&took, &res);
	bench_text(&res, "scheme", s->desc->name);
	bench_emit(&res, c);
}

const struct workload workload_open_close = { .measure = measure, .pin = 1 };
