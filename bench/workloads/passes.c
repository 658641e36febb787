/* SPDX-License-Identifier: Apache-2.0 */
/* Hand-offs per second among threads that want the same lock: threads of one
 * client, and by turns, as a floor, threads of a client each. */
#include "bench/store.h"

#include <pthread.h>
#include <stdatomic.h>

#define MOST 16
#define ROUNDS 7

struct thread {
	dlock_client *client;
	dlock_lock *lock;
	pthread_t id;
	unsigned int me;
};

static atomic_int stop;
static uint64_t handoffs; /* under the lock */
static unsigned int last; /* likewise: the holder before */

/* Acquire and release in a loop.  A hand-off counts unless the thread itself
 * had the lock before. */
static void *thread_main(void *arg)
{
	struct thread *t = arg;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		dlock_hold *hold;

		bench_check(dlock_acquire(t->lock, 60000, &hold),
			    "dlock_acquire");
		handoffs += last != t->me;
		last = t->me;
		bench_check(dlock_release(hold), "dlock_release");
	}
	return NULL;
}

/* Per second. */
static double rate(struct thread threads[], unsigned int n, int64_t ns)
{
	int64_t begin, end;

	handoffs = 0;
	atomic_store(&stop, 0);
	begin = bench_now();
	for (unsigned int i = 0; i < n; i++)
		bench_thread(&threads[i].id, thread_main, &threads[i]);
	bench_sleep(ns);
	atomic_store(&stop, 1);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(threads[i].id, NULL);
	end = bench_now();
	return (double)handoffs * 1e9 / (double)(end - begin);
}

static void open_threads(struct thread threads[], unsigned int n,
			 const struct bench_store *s, int share)
{
	for (unsigned int i = 0; i < n; i++) {
		struct thread *t = &threads[i];

		t->me = i;
		t->client = share && i > 0 ? threads[0].client :
					     store_client(s);
		bench_check(dlock_mutex_new(&t->lock, t->client, "bench"),
			    "dlock_mutex_new");
	}
}

static void close_threads(struct thread threads[], unsigned int n, int share)
{
	for (unsigned int i = 0; i < n; i++)
		dlock_lock_free(threads[i].lock);
	for (unsigned int i = 0; i < (share ? 1 : n); i++)
		dlock_close(threads[i].client);
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	int64_t ns = (int64_t)(run->seconds * 1e9 / (2 * (ROUNDS + 1)));
	struct bench_turns turns = bench_turns(ROUNDS, 1);
	struct bench_result res = BENCH_RESULT;
	struct thread side[2][MOST];
	double each[2];

	for (int i = 0; i < 2; i++)
		open_threads(side[i], c->n, s, i == BENCH_OURS);
	for (int i = 0; i <= ROUNDS; i++) {
		for (int j = i; j < i + 2; j++)
			each[j % 2] = rate(side[j % 2], c->n, ns);
		/* The first round warms up. */
		if (i > 0)
			bench_turn(&turns, each);
	}
	bench_turns_figures(&turns, &res);
	bench_text(&res, "scheme", s->desc->name);
	for (int i = 0; i < 2; i++)
		close_threads(side[i], c->n, i == BENCH_OURS);
	bench_emit(&res, c);
}

const struct workload workload_passes = { .measure = measure, .pin = 1 };
