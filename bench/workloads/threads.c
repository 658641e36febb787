/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs per second of a client with several threads, each with a lock of its
 * own: three numbers of threads, by turns. */
#include "bench/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MOST 64
#define SIZES 3
#define ROUNDS 7

/* Each has a separate cache line, as it counts all the time. */
struct thread {
	_Alignas(64) _Atomic uint64_t pairs;
	struct bench_lock *lock;
	pthread_t id;
};

static struct thread threads[MOST];
static atomic_int stop;

static void *thread_main(void *arg)
{
	struct thread *t = arg;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		t->lock->ops->pair(t->lock);
		atomic_fetch_add_explicit(&t->pairs, 1, memory_order_relaxed);
	}
	return NULL;
}

static uint64_t all_pairs(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < MOST; i++)
		sum += atomic_load(&threads[i].pairs);
	return sum;
}

/* Pairs per second of `n` threads. */
static double rate(unsigned int n, int64_t ns)
{
	uint64_t before, after;
	int64_t begin, end;

	atomic_store(&stop, 0);
	for (unsigned int i = 0; i < n; i++)
		bench_thread(&threads[i].id, thread_main, &threads[i]);
	before = all_pairs();
	begin = bench_now();
	bench_sleep(ns);
	after = all_pairs();
	end = bench_now();
	atomic_store(&stop, 1);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(threads[i].id, NULL);
	return (double)(after - before) * 1e9 / (double)(end - begin);
}

static void emit(struct bench_samples rates[SIZES], const struct bench_case *c)
{
	double alone = bench_percentile(&rates[0], 50);

	for (int i = 0; i < SIZES; i++) {
		struct bench_result res = BENCH_RESULT;

		bench_samples_figures(&rates[i], &res);
		res.p99 = BENCH_NONE;
		res.floor = alone;
		res.ratio = res.value / alone;
		bench_extra(&res, c[i].n, "threads");
		bench_emit(&res, &c[i]);
	}
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	int64_t ns = (int64_t)(run->seconds * 1e9 / (SIZES * (ROUNDS + 1)));
	struct bench_lock *client = bench_lock_open(&lock_dlock, s);
	struct bench_samples rates[SIZES];
	char name[16];

	for (unsigned int i = 0; i < MOST; i++) {
		snprintf(name, sizeof(name), "thread%u", i);
		threads[i].lock = bench_lock_guest(client, name);
	}
	for (int i = 0; i < SIZES; i++) {
		rates[i] = bench_samples(ROUNDS);
		rate(c[i].n, ns); /* to warm up */
	}
	for (int i = 0; i < SIZES * ROUNDS; i++)
		bench_sample(&rates[i % SIZES], rate(c[i % SIZES].n, ns));
	emit(rates, c);
	for (unsigned int i = 0; i < MOST; i++)
		bench_lock_close(threads[i].lock);
	bench_lock_close(client);
}

const struct workload workload_threads = { .measure = measure, .together = 1 };
