/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/threads.h"
#include "bench/stop.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define MOST 64
#define ROUNDS 7

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

struct crowds {
	struct bench_run *run;
	const unsigned int *size;
	struct worker w[MOST];
	struct bench_samples rate[BENCH_CROWDS];
};

static int measure(struct crowds *c)
{
	int64_t ns = (int64_t)(c->run->seconds * 1e9 /
			       (BENCH_CROWDS * (ROUNDS + 1)));

	for (int round = 0; round <= ROUNDS; round++) {
		for (size_t i = 0; i < BENCH_CROWDS; i++) {
			double per_second;

			if (round_of(c->run, c->w, c->size[i], ns,
				     &per_second) != 0)
				return -1;
			/* The first is to warm up. */
			if (round > 0)
				bench_sample(&c->rate[i], per_second);
		}
		if (bench_stopped)
			return -1;
	}
	return 0;
}

static void emit(struct crowds *c, double target)
{
	double alone = bench_percentile(&c->rate[0], 50);

	for (size_t i = 0; i < BENCH_CROWDS; i++) {
		struct bench_result res = BENCH_RESULT_INIT(
			"pairs/s of all (ratio = to one thread)");

		res.value = bench_percentile(&c->rate[i], 50);
		res.floor = alone;
		res.ratio = res.value / alone;
		res.p50 = res.value;
		res.samples = c->rate[i].n;
		bench_extra(&res, "threads", c->size[i]);
		/* One thread that shares a CPU with the server is twice as fast
		 * as one that does not, and then saturates it alone. */
		if (i > 0 && target > 0)
			bench_limit(&res, (struct bench_limit){
						  "one thread's to all",
						  1 / res.ratio, 1 / target, 4,
						  BENCH_TIME });
		bench_emit(c->run, &res);
	}
}

static int with_client(struct crowds *c, dlock_client *client, double target)
{
	int rc = 0;

	for (unsigned int i = 0; i < MOST && rc == 0; i++) {
		char name[16];

		snprintf(name, sizeof(name), "thread/%u", i);
		rc = dlock_mutex_new(&c->w[i].lock, client, name);
	}
	if (rc != 0)
		rc = bench_fail_dlock(c->run, rc, "dlock_mutex_new");
	for (size_t i = 0; i < BENCH_CROWDS && rc == 0; i++) {
		if (bench_samples_init(&c->rate[i], ROUNDS) != 0)
			rc = bench_fail(c->run, "out of memory");
	}
	if (rc == 0)
		rc = measure(c);
	if (rc == 0)
		emit(c, target);
	for (unsigned int i = 0; i < MOST; i++)
		dlock_free(c->w[i].lock);
	for (size_t i = 0; i < BENCH_CROWDS; i++)
		bench_samples_free(&c->rate[i]);
	return rc;
}

int bench_threads(struct bench_run *r, const char *uri,
		  const unsigned int size[BENCH_CROWDS], double target)
{
	static struct crowds c;
	dlock_client *client;
	int rc = dlock_open(&client, uri, NULL);

	if (rc == DLOCK_ENOTSUP)
		return bench_skip(r, "%s", dlock_errmsg());
	if (rc != 0)
		return bench_fail_dlock(r, rc, "dlock_open");
	c = (struct crowds){ .run = r, .size = size };
	rc = with_client(&c, client, target);
	dlock_close(client);
	return rc;
}

static int run(struct bench_run *r)
{
	static const unsigned int size[BENCH_CROWDS] = { 1, 2, 8 };

	return bench_threads(r, "mem://bench", size, 0);
}

const struct bench bench_threads_mem = {
	.name = "threads.mem",
	.summary = "mem: 1, 2 and 8 threads of one client, each with a name of "
		   "its own",
	.run = run,
};
