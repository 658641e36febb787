/* SPDX-License-Identifier: Apache-2.0 */
/* A client that keeps a lock: the cost of a pair, and the cost for another
 * client to take the lock. */
#include "bench/store.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ROUNDS 400
#define BURST 10
#define BURSTS 100
#define PAIRS (BURST * BURSTS) /* in a row */
#define PAUSE_NS 20000         /* between two bursts */
#define SAMPLES 4000
#define KEEP_MS 10000

/* The same store, for a client that keeps. */
static struct bench_store keeping(const struct bench_store *s)
{
	struct bench_store k = *s;

	k.uri = store_text("%s?keep=%dms", s->uri, KEEP_MS);
	return k;
}

static void must_have_kept(const struct bench_lock *l)
{
	struct dlock_stats stats = { .size = sizeof(stats) };

	bench_check(dlock_get_stats(l->client, &stats), "dlock_get_stats");
	if (stats.kept != 1)
		bench_fail("the lock is not kept");
}

/* ---- Pairs --------------------------------------------------------------- */

static double pairs(struct bench_lock *l, int n)
{
	int64_t begin = bench_now();

	for (int i = 0; i < n; i++)
		lock_dlock.pair(l);
	return (double)(bench_now() - begin) / n;
}

/* A program that does something else, too: for that long the store's clock goes
 * ahead of the tokens. */
static double bursts(struct bench_lock *l)
{
	double sum = 0;

	for (int i = 0; i < BURSTS; i++) {
		int64_t end = bench_now() + PAUSE_NS;

		while (bench_now() < end)
			continue;
		sum += pairs(l, BURST);
	}
	return sum / BURSTS;
}

/* In all, fewer tokens are used than a claim may be given at once; but zk: has
 * few at first, and the client asks for more.  Pairs in a row wait for the
 * store's clock: a token is a microsecond. */
static void measure_pairs(struct bench_store *s, const struct bench_case *c)
{
	struct bench_store k = keeping(s);
	struct bench_lock *l = bench_lock_open(&lock_dlock, &k);
	struct bench_samples took = bench_samples(ROUNDS);
	struct bench_samples in_a_row = bench_samples(ROUNDS);
	struct bench_result res = BENCH_RESULT;

	for (int i = 0; i < ROUNDS; i++)
		bench_sample(&in_a_row, pairs(l, PAIRS));
	for (int i = 0; i < ROUNDS; i++)
		bench_sample(&took, bursts(l));
	must_have_kept(l);
	bench_samples_figures(&took, &res);
	bench_extra(&res, bench_median(&in_a_row), "in_a_row");
	bench_text(&res, "scheme", s->desc->name);
	bench_lock_close(l);
	free(k.uri);
	bench_emit(&res, c);
}

/* ---- Another client ------------------------------------------------------ */

/* Measure from another client's request to the grant of the kept lock. */
static double recall(struct bench_lock *keeps, struct bench_lock *other)
{
	int64_t begin, took;

	lock_dlock.pair(keeps);
	must_have_kept(keeps);
	bench_sleep(BENCH_MS / 2);
	begin = bench_now();
	lock_dlock.acquire(other);
	took = bench_now() - begin;
	lock_dlock.release(other);
	/* Right after another client asked, a client keeps no lock. */
	bench_sleep(110 * BENCH_MS);
	return (double)took;
}

static void measure_recall(struct bench_store *s, const struct bench_case *c)
{
	int64_t until = bench_now() + (int64_t)(run->seconds * 1e9);
	struct bench_turns turns = bench_turns(SAMPLES, SAMPLES);
	struct bench_result res = BENCH_RESULT;
	struct bench_store k = keeping(s);
	struct bench_lock *keeps = bench_lock_open(&lock_dlock, &k);
	struct bench_lock *holder = bench_lock_open(&lock_dlock, s);
	struct bench_lock *other = bench_lock_open(&lock_dlock, s);

	bench_hand_off(holder, other);
	recall(keeps, other);
	for (int i = 0; i < SAMPLES && (i < 5 || bench_now() < until); i++) {
		double each[2];

		each[BENCH_FLOOR] = bench_hand_off(holder, other);
		each[BENCH_OURS] = recall(keeps, other);
		for (int j = 0; j < 2; j++)
			bench_sample(&turns.single[j], each[j]);
		bench_turn(&turns, each);
	}
	bench_turns_figures(&turns, &res);
	bench_text(&res, "scheme", s->desc->name);
	bench_lock_close(keeps);
	bench_lock_close(holder);
	bench_lock_close(other);
	free(k.uri);
	bench_emit(&res, c);
}

const struct workload workload_keep = { .measure = measure_pairs, .pin = 1 };
const struct workload workload_recall = { .measure = measure_recall, .pin = 1 };
