/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

/* Rounds are shorter than what the scheduler gives a process at a time: work of
 * others on this CPU then spoils some of them, and leaves the median alone. */
#define SLICE_NS 100000
#define ROUNDS 20000   /* at most */
#define SINGLES 200000 /* pairs timed one by one that are kept, at most */

struct side {
	struct bench_op op;
	size_t batch; /* pairs in a round */
	double last;  /* ns a pair in the round just done */
	struct bench_samples rounds, singles;
};

static int repeat(const struct bench_op *op, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int rc = op->pair(op->arg);

		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Run for a while, and find out how many fill a slice. */
static int warm_up(struct side *s, int64_t ns)
{
	int64_t begin = bench_now();
	size_t n = 0, step = 1;
	double each;

	do {
		int rc = repeat(&s->op, step);

		if (rc != 0)
			return rc;
		n += step;
		if (step < 1024)
			step *= 2;
	} while (!bench_over(begin + ns));
	each = (double)(bench_now() - begin) / (double)n;
	s->batch = (size_t)(SLICE_NS / each) + 4;
	return 0;
}

static int round_of(struct side *s)
{
	int64_t begin = bench_now();
	int rc = repeat(&s->op, s->batch);

	if (rc != 0)
		return rc;
	s->last = (double)(bench_now() - begin) / (double)s->batch;
	bench_sample(&s->rounds, s->last);
	begin = bench_now();
	for (size_t i = 0; i < s->batch; i++) {
		int64_t end;

		rc = s->op.pair(s->op.arg);
		if (rc != 0)
			return rc;
		end = bench_now();
		bench_sample(&s->singles, (double)(end - begin));
		begin = end;
	}
	return 0;
}

/* The least of many means, so that others' work does not count. */
static double clock_cost(void)
{
	double least = 1e9;

	for (int i = 0; i < 50; i++) {
		int64_t begin = bench_now();
		int64_t end = begin;
		double mean;

		for (int n = 0; n < 100; n++)
			end = bench_now();
		mean = (double)(end - begin) / 100;
		if (mean < least)
			least = mean;
	}
	return least;
}

static int measure(struct bench_run *r, struct side side[2],
		   struct bench_samples *ratios)
{
	int64_t ns = (int64_t)(r->seconds * 1e9);
	int64_t until;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++)
		rc = warm_up(&side[i], ns / 10);
	until = bench_now() + ns / 10 * 8;
	for (int round = 0; rc == 0 && round < ROUNDS; round++) {
		/* Each goes first every other time. */
		rc = round_of(&side[round % 2]);
		if (rc == 0)
			rc = round_of(&side[1 - round % 2]);
		if (rc == 0)
			bench_sample(ratios, side[1].last / side[0].last);
		if (bench_over(until))
			break;
	}
	return rc;
}

static void figures(struct side side[2], struct bench_samples *ratios,
		    struct bench_result *res)
{
	res->value = bench_percentile(&side[1].rounds, 50);
	res->floor = bench_percentile(&side[0].rounds, 50);
	res->ratio = bench_percentile(ratios, 50);
	res->p50 = bench_percentile(&side[1].singles, 50);
	res->p99 = bench_percentile(&side[1].singles, 99);
	res->samples = side[1].singles.n;
	bench_extra(res, "floor_p50", bench_percentile(&side[0].singles, 50));
	bench_extra(res, "floor_p99", bench_percentile(&side[0].singles, 99));
	bench_extra(res, "rounds", (double)ratios->n);
	bench_extra(res, "pairs_per_round", (double)side[1].batch);
	bench_extra(res, "clock_ns", clock_cost());
}

int bench_pairs(struct bench_run *r, struct bench_op floor,
		struct bench_op ours, struct bench_result *res)
{
	struct side side[2] = { { .op = floor }, { .op = ours } };
	struct bench_samples ratios = { 0 };
	int rc = bench_samples_init(&ratios, ROUNDS);

	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = bench_samples_init(&side[i].rounds, ROUNDS);
		if (rc == 0)
			rc = bench_samples_init(&side[i].singles, SINGLES);
	}
	if (rc != 0) {
		bench_fail(r, "out of memory");
	} else {
		rc = measure(r, side, &ratios);
		if (rc == 0)
			figures(side, &ratios, res);
	}
	for (int i = 0; i < 2; i++) {
		bench_samples_free(&side[i].rounds);
		bench_samples_free(&side[i].singles);
	}
	bench_samples_free(&ratios);
	return rc;
}
