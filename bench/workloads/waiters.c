/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many waiters for one mutex, in eight processes with a client each: the
 * requests while another client holds the mutex, and the cost of a release.
 */
#include "bench/worker.h"

#define QUEUE_NS (30000 * BENCH_MS)
#define CHAIN 100      /* hand-offs from waiter to waiter */
#define POLL_MS 100    /* default interval in a store whose waiters poll */
#define HAND_OFFS 15   /* there: for each second of --seconds */
#define SHORT_HOLDS 40 /* there, likewise: with a single waiter */
#define REST_NS (300 * BENCH_MS)

/* Measure requests per second while all wait. */
static double idle(const struct workers *w, int64_t ns)
{
	struct store_load load = w->store->desc->load(w->store);
	int64_t begin = bench_now();

	bench_sleep(ns);
	load = store_load_since(w->store, load,
				(double)(bench_now() - begin) / 1e9);
	return load.requests;
}

static void with_waiters(struct workers *w,
			 void (*measure)(struct workers *w,
					 struct bench_lock *held,
					 struct bench_result *res),
			 const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	struct bench_lock *l;

	w->waiters = c->n;
	workers_start(w, WORKERS);
	l = bench_lock_open(&lock_dlock, w->store);
	lock_dlock.acquire(l);
	workers_order(w, WORKER_OPEN, BENCH_OURS);
	workers_order(w, WORKER_QUEUE, BENCH_OURS);
	measure(w, l, &res);
	bench_lock_close(l);
	workers_end(w);
	bench_emit(&res, c);
}

/* ---- A store with a queue ------------------------------------------------ */

/* Of all clients. */
static double count_wakes(struct workers *w)
{
	double wakes = 0;

	workers_order(w, WORKER_COUNT, BENCH_OURS);
	for (unsigned int i = 0; i < w->n; i++)
		wakes += (double)w->shared->report[i].after.dlock.wakes;
	return wakes;
}

/* Make the holder release, and see the next waiter granted. */
static void next_turn(struct workers *w, uint64_t turn)
{
	atomic_store(&w->shared->turn, turn);
	workers_await(w, turn);
}

/* From waiter to waiter. */
static void chain(struct workers *w, struct bench_result *res)
{
	const struct store_desc *desc = w->store->desc;
	struct bench_samples took = bench_samples(CHAIN);
	struct store_load load = desc->load(w->store);
	int64_t begin = bench_now();

	for (uint64_t i = 2; i < CHAIN + 2; i++) {
		next_turn(w, i);
		bench_sample(&took,
			     (double)(atomic_load(&w->shared->granted_at) -
				      atomic_load(&w->shared->released_at)));
	}
	bench_extra(res, (double)(bench_now() - begin) / 1e9, "chain_s");
	load = store_load_since(w->store, load, CHAIN);
	bench_extra(res, load.requests, "%s_per_release", desc->requests);
	bench_extra(res, load.replies, "%s_per_release", desc->replies);
	bench_samples_figures(&took, res);
}

static void queue(struct workers *w, struct bench_lock *held,
		  struct bench_result *res)
{
	const struct store_desc *desc = w->store->desc;
	int64_t until = bench_now() + QUEUE_NS;
	double asked, wakes;

	while (bench_lock_waiters(held) < w->waiters) {
		bench_wait(until, "some waiters did not come");
		bench_sleep(20 * BENCH_MS);
	}
	asked = idle(w, 6000 * BENCH_MS);
	if (desc->idle_per_waiter)
		asked *= run->bench->ttl_ms / 1e3 / w->waiters;
	bench_extra(res, asked, "%s", desc->idle);
	wakes = count_wakes(w);
	atomic_store(&w->shared->turn, 1);
	lock_dlock.release(held);
	workers_await(w, 1);
	chain(w, res);
	bench_extra(res, (count_wakes(w) - wakes) / (CHAIN + 1),
		    "wakes_per_release");
}

/* ---- A store whose waiters poll ------------------------------------------ */

/* From this process to any waiter. */
static double hand_off(struct workers *w, struct bench_lock *held, uint64_t i)
{
	uint64_t turn;
	int64_t begin;

	/* Until all wait again, and not in step with their polls. */
	bench_sleep(2 * REST_NS + (int64_t)(i * 7919 % 97) * BENCH_MS);
	turn = atomic_load(&w->shared->count) + 1;
	atomic_store(&w->shared->last, 0);
	atomic_store(&w->shared->turn, turn);
	begin = bench_now();
	lock_dlock.release(held);
	workers_await(w, turn);
	return (double)(atomic_load(&w->shared->granted_at) - begin);
}

static void poll_handoff(struct workers *w, struct bench_lock *held,
			 struct bench_result *res)
{
	uint64_t n = (uint64_t)(HAND_OFFS * run->seconds);
	struct bench_samples took = bench_samples(n);

	for (uint64_t i = 1; i <= n; i++) {
		bench_sample(&took, hand_off(w, held, i));
		lock_dlock.acquire(held);
	}
	lock_dlock.release(held);
	bench_samples_figures(&took, res);
	res->floor = POLL_MS * 1e6 / 2;
	res->ratio = res->value / res->floor;
	bench_extra(res, w->waiters, "waiters");
}

/* Measure a hand-off to the only waiter, `hold_ns` after the wait began. */
static double short_hold(struct workers *w, struct bench_lock *held,
			 int64_t hold_ns)
{
	const struct worker_report *waiter = &w->shared->report[0];
	int64_t until = bench_now() + QUEUE_NS;
	uint32_t ordered = atomic_load(&waiter->entered) + 1;
	int64_t begin;

	lock_dlock.acquire(held);
	worker_order(w, 0, WORKER_ACQUIRE, BENCH_OURS);
	while (atomic_load(&waiter->entered) < ordered) {
		bench_wait(until, "the waiter does not come");
		bench_sleep(50000);
	}
	bench_sleep(hold_ns);
	begin = bench_now();
	lock_dlock.release(held);
	worker_answer(w, 0);
	return (double)(atomic_load(&w->shared->granted_at) - begin);
}

static void poll_short(struct workers *w, const struct bench_case *c)
{
	const struct store_desc *desc = w->store->desc;
	struct bench_result res = BENCH_RESULT;
	uint64_t n = (uint64_t)(SHORT_HOLDS * run->seconds);
	struct bench_samples took = bench_samples(n);
	struct bench_lock *held;
	struct store_load load;

	workers_start(w, 1);
	held = bench_lock_open(&lock_dlock, w->store);
	workers_order(w, WORKER_OPEN, BENCH_OURS);
	load = desc->load(w->store);
	for (uint64_t i = 0; i < n; i++)
		bench_sample(&took, short_hold(w, held, c->hold_ms * BENCH_MS));
	load = store_load_since(w->store, load, (double)n);
	bench_lock_close(held);
	workers_end(w);
	bench_samples_figures(&took, &res);
	res.floor = POLL_MS * 1e6 / 2;
	res.ratio = res.value / res.floor;
	bench_extra(&res, c->n, "waiters");
	bench_extra(&res, c->hold_ms, "hold_ms");
	/* The holder sent one request. */
	bench_extra(&res, load.requests - 1, "requests_per_wait");
	bench_emit(&res, c);
}

static void poll_requests(struct workers *w, struct bench_lock *held,
			  struct bench_result *res)
{
	bench_sleep(REST_NS);
	res->value = idle(w, 3000 * BENCH_MS);
	lock_dlock.release(held);
	bench_extra(res, w->waiters, "waiters");
	bench_extra(res, res->value / w->waiters, "per_waiter");
}

/* -------------------------------------------------------------------------- */

static void measure_queue(struct bench_store *s, const struct bench_case *c)
{
	with_waiters(&(struct workers){ .store = s, .once = 1 }, queue, c);
}

static void measure_handoff(struct bench_store *s, const struct bench_case *c)
{
	struct workers w = { .store = s, .rest_ns = REST_NS };

	if (c->hold_ms > 0)
		poll_short(&w, c);
	else
		with_waiters(&w, poll_handoff, c);
}

static void measure_requests(struct bench_store *s, const struct bench_case *c)
{
	with_waiters(&(struct workers){ .store = s, .rest_ns = REST_NS },
		     poll_requests, c);
}

const struct workload workload_waiters = { .measure = measure_queue };
const struct workload workload_poll_handoff = { .measure = measure_handoff };
const struct workload workload_poll_requests = { .measure = measure_requests };
