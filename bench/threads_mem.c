/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"
#include "bench/stop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST 8
#define ROUNDS 7

static const unsigned int crowds[] = { 1, 2, MOST };
#define N_CROWDS (sizeof(crowds) / sizeof(crowds[0]))

/* On a cache line of its own: they are counted up all the time. */
struct worker {
	_Alignas(64) _Atomic uint64_t pairs;
	_Atomic int failed;
	dlock_lock *lock;
	pthread_t thread;
};

static atomic_int stop;

static void *work(void *arg)
{
	struct worker *w = arg;
	int rc = 0;

	while (rc == 0 && !atomic_load_explicit(&stop, memory_order_relaxed)) {
		dlock_hold *hold;

		rc = dlock_acquire(w->lock, 10000, &hold);
		if (rc == 0)
			rc = dlock_release(hold);
		if (rc == 0)
			atomic_fetch_add_explicit(&w->pairs, 1,
						  memory_order_relaxed);
	}
	atomic_store(&w->failed, rc);
	return NULL;
}

static uint64_t pairs_of(struct worker *w, unsigned int n)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += atomic_load(&w[i].pairs);
	return sum;
}

/* `n` threads, each with a name of its own, for `ns`: pairs per second. */
static int round_of(struct bench_run *r, struct worker *w, unsigned int n,
		    int64_t ns, double *rate)
{
	unsigned int started = 0;
	uint64_t before;
	int64_t begin;
	int rc = 0;

	atomic_store(&stop, 0);
	while (started < n && rc == 0) {
		rc = pthread_create(&w[started].thread, NULL, work,
				    &w[started]);
		started += rc == 0;
	}
	before = pairs_of(w, n);
	begin = bench_now();
	if (rc == 0)
		bench_sleep(ns);
	*rate = (double)(pairs_of(w, n) - before) * 1e9 /
		(double)(bench_now() - begin);
	atomic_store(&stop, 1);
	if (rc != 0)
		bench_fail(r, "pthread_create: %s", strerror(rc));
	while (started-- > 0) {
		pthread_join(w[started].thread, NULL);
		if (atomic_load(&w[started].failed))
			bench_fail(r, "a thread's pair: %s",
				   dlock_strerror(w[started].failed));
	}
	return r->errors ? -1 : 0;
}

static int measure(struct bench_run *r, struct worker *w,
		   struct bench_samples rate[N_CROWDS])
{
	int64_t ns = (int64_t)(r->seconds * 1e9 / (N_CROWDS * (ROUNDS + 1)));

	for (int round = 0; round <= ROUNDS; round++) {
		for (size_t i = 0; i < N_CROWDS; i++) {
			double per_second;

			if (round_of(r, w, crowds[i], ns, &per_second) != 0)
				return -1;
			/* The first is to warm up. */
			if (round > 0)
				bench_sample(&rate[i], per_second);
		}
		if (bench_stopped)
			return -1;
	}
	return 0;
}

static void emit(struct bench_run *r, struct bench_samples rate[N_CROWDS])
{
	double alone = bench_percentile(&rate[0], 50);

	for (size_t i = 0; i < N_CROWDS; i++) {
		struct bench_result res = BENCH_RESULT_INIT(
			"pairs/s of all (ratio = to one thread)");

		res.value = bench_percentile(&rate[i], 50);
		res.floor = alone;
		res.ratio = res.value / alone;
		res.p50 = res.value;
		res.samples = rate[i].n;
		bench_extra(&res, "threads", crowds[i]);
		bench_emit(r, &res);
	}
}

static int with_client(struct bench_run *r, dlock_client *client)
{
	struct bench_samples rate[N_CROWDS] = { { 0 } };
	static struct worker w[MOST];
	int rc = 0;

	for (unsigned int i = 0; i < MOST && rc == 0; i++) {
		char name[16];

		snprintf(name, sizeof(name), "thread/%u", i);
		rc = dlock_mutex_new(&w[i].lock, client, name);
	}
	if (rc != 0)
		rc = bench_fail_dlock(r, rc, "dlock_mutex_new");
	for (size_t i = 0; i < N_CROWDS && rc == 0; i++) {
		if (bench_samples_init(&rate[i], ROUNDS) != 0)
			rc = bench_fail(r, "out of memory");
	}
	if (rc == 0)
		rc = measure(r, w, rate);
	if (rc == 0)
		emit(r, rate);
	for (unsigned int i = 0; i < MOST; i++)
		dlock_free(w[i].lock);
	for (size_t i = 0; i < N_CROWDS; i++)
		bench_samples_free(&rate[i]);
	return rc;
}

static int run(struct bench_run *r)
{
	dlock_client *client;
	int rc = dlock_open(&client, "mem://bench", NULL);

	if (rc != 0)
		return bench_fail_dlock(r, rc, "dlock_open");
	rc = with_client(r, client);
	dlock_close(client);
	return rc;
}

const struct bench bench_threads_mem = {
	.name = "threads.mem",
	.summary = "mem: 1, 2 and 8 threads of one client, each with a name of "
		   "its own",
	.run = run,
};
