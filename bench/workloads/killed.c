/* SPDX-License-Identifier: Apache-2.0 */
/* From SIGKILL of the holder until the next client has the lock. */
#include "bench/worker.h"

#define TICK_MS 100 /* of the lab's servers */
#define PATIENCE_NS (20000 * BENCH_MS)

struct killer {
	struct workers *workers;
	struct bench_lock *lock; /* the waiter's */
	unsigned int victim;
	int64_t killed_at;
};

/* Wait until the other thread waits for the lock, and then for another part of
 * the ping interval each time: the server counts from the last ping. */
static void *kill_one(void *arg)
{
	struct killer *k = arg;
	int64_t until = bench_now() + PATIENCE_NS;

	while (bench_lock_waiters(k->lock) == 0) {
		bench_wait(until, "nobody waits for the lock");
		bench_sleep(BENCH_MS);
	}
	bench_sleep(k->victim * (run->bench->ttl_ms * BENCH_MS / 3) / WORKERS);
	k->killed_at = bench_now();
	worker_kill(k->workers, k->victim);
	return NULL;
}

/* Milliseconds. */
static double follow(struct workers *w, struct bench_lock *l,
		     unsigned int victim)
{
	struct killer k = { w, l, victim, 0 };
	int64_t granted_at;
	pthread_t thread;

	worker_order(w, victim, WORKER_OPEN, BENCH_OURS);
	worker_answer(w, victim);
	worker_order(w, victim, WORKER_QUEUE, BENCH_OURS);
	workers_await(w, victim + 1);
	bench_thread(&thread, kill_one, &k);
	lock_dlock.acquire(l);
	granted_at = bench_now();
	pthread_join(thread, NULL);
	lock_dlock.release(l);
	return (double)(granted_at - k.killed_at) / 1e6;
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct workers w = { .store = s, .waiters = WORKERS, .once = 1 };
	struct bench_samples took = bench_samples(c->n);
	struct bench_result res = BENCH_RESULT;
	struct bench_lock *l;

	workers_start(&w, run->check ? c->n / 2 : c->n);
	l = bench_lock_open(&lock_dlock, s);
	for (unsigned int i = 0; i < w.n; i++)
		bench_sample(&took, follow(&w, l, i));
	bench_lock_close(l);
	workers_end(&w);
	bench_samples_figures(&took, &res);
	res.floor = run->bench->ttl_ms + TICK_MS;
	res.ratio = res.value / res.floor;
	bench_extra(&res, run->bench->ttl_ms, "ttl_ms");
	bench_extra(&res, TICK_MS, "tick_ms");
	bench_emit(&res, c);
}

const struct workload workload_killed = { .measure = measure };
