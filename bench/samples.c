/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <stdlib.h>

struct bench_samples bench_samples(size_t room)
{
	struct bench_samples s = { .room = room };

	s.v = bench_alloc(room, sizeof(double));
	for (size_t i = 0; i < room; i++)
		s.v[i] = BENCH_NONE;
	return s;
}

void bench_samples_free(struct bench_samples *s)
{
	free(s->v);
	*s = (struct bench_samples){ 0 };
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

double bench_median(struct bench_samples *s)
{
	double median = bench_percentile(s, 50);

	bench_samples_free(s);
	return median;
}

void bench_samples_figures(struct bench_samples *s, struct bench_result *res)
{
	res->samples = s->n;
	res->p99 = bench_percentile(s, 99);
	res->value = res->p50 = bench_median(s);
}

struct bench_turns bench_turns(size_t rounds, size_t singles)
{
	struct bench_turns t = { .ratio = bench_samples(rounds) };

	for (int i = 0; i < 2; i++) {
		t.round[i] = bench_samples(rounds);
		t.single[i] = bench_samples(singles);
	}
	return t;
}

void bench_turn(struct bench_turns *t, const double figure[2])
{
	bench_sample(&t->round[0], figure[0]);
	bench_sample(&t->round[1], figure[1]);
	bench_sample(&t->ratio, figure[1] / figure[0]);
}

void bench_turns_figures(struct bench_turns *t, struct bench_result *res)
{
	struct bench_samples *floor = &t->single[BENCH_FLOOR];

	if (floor->n > 0) {
		bench_extra(res, bench_percentile(floor, 50), "floor_p50");
		bench_extra(res, bench_percentile(floor, 99), "floor_p99");
	}
	bench_samples_free(floor);
	bench_samples_figures(&t->single[BENCH_OURS], res);
	bench_extra(res, (double)t->ratio.n, "rounds");
	res->floor = bench_median(&t->round[BENCH_FLOOR]);
	res->value = bench_median(&t->round[BENCH_OURS]);
	res->ratio = bench_median(&t->ratio);
}
