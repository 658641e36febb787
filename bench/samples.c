/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <stdlib.h>

int bench_samples_init(struct bench_samples *s, size_t room)
{
	s->n = 0;
	s->room = 0;
	s->v = malloc(room * sizeof(double));
	if (!s->v)
		return -1;
	s->room = room;
	for (size_t i = 0; i < room; i++)
		s->v[i] = BENCH_NONE;
	return 0;
}

void bench_samples_free(struct bench_samples *s)
{
	free(s->v);
	s->v = NULL;
	s->n = s->room = 0;
}

void bench_sample(struct bench_samples *s, double value)
{
	if (s->n < s->room)
		s->v[s->n++] = value;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_percentile(struct bench_samples *s, double percent)
{
	size_t rank;

	if (s->n == 0)
		return BENCH_NONE;
	qsort(s->v, s->n, sizeof(double), ascending);
	rank = (size_t)(percent / 100 * (double)s->n);
	return s->v[rank < s->n ? rank : s->n - 1];
}
