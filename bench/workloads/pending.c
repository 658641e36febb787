/* SPDX-License-Identifier: Apache-2.0 */
/* Many calls of a client that wait for mutexes: threads and bytes, and how fast
 * they are served then. */
#include "bench/store.h"

#include <dirent.h>
#include <dlock/async.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>

#define NAMES 100

/* Mutexes that a client holds, and another client waits for. */
struct crowd {
	size_t names;
	dlock_client *client, *holder;
	dlock_lock *lock[NAMES], *held[NAMES];
	dlock_hold *hold[NAMES];
};

static size_t served; /* by this thread's loop */

static double threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	double n = 0;

	if (!dir)
		bench_fail("/proc/self/task cannot be read");
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void granted(const struct dlock_result *r, void *arg)
{
	(void)arg;
	bench_check(r->code, "an asynchronous acquire");
	bench_check(dlock_release_start(r->hold, NULL, NULL),
		    "dlock_release_start");
	served++;
}

static uint64_t waiters(dlock_client *c)
{
	struct dlock_stats stats = { .size = sizeof(stats) };

	bench_check(dlock_get_stats(c, &stats), "dlock_get_stats");
	return stats.waiters;
}

static void await_waiters(dlock_client *c, uint64_t n)
{
	int64_t until = bench_now() + 60000 * BENCH_MS;

	while (waiters(c) < n) {
		bench_wait(until, "calls that wait");
		bench_sleep(BENCH_MS);
	}
}

static void crowd_make(struct crowd *w, struct bench_store *s, size_t names)
{
	char name[32];

	w->names = names;
	w->client = store_client(s);
	w->holder = store_client(s);
	for (size_t i = 0; i < names; i++) {
		snprintf(name, sizeof(name), "bench%zu", i);
		bench_check(dlock_mutex_new(&w->lock[i], w->client, name),
			    "dlock_mutex_new");
		bench_check(dlock_lock_unbind(w->lock[i]), "dlock_lock_unbind");
		bench_check(dlock_mutex_new(&w->held[i], w->holder, name),
			    "dlock_mutex_new");
		bench_check(dlock_acquire(w->held[i], 10000, &w->hold[i]),
			    "dlock_acquire");
	}
}

static void crowd_free(struct crowd *w)
{
	for (size_t i = 0; i < w->names; i++) {
		dlock_lock_free(w->lock[i]);
		dlock_lock_free(w->held[i]);
	}
	dlock_close(w->client);
	dlock_close(w->holder);
}

/* Begin `n` acquires.  Return the time until all wait. */
static int64_t ask(struct crowd *w, size_t n)
{
	int64_t begin = bench_now();

	for (size_t i = 0; i < n; i++)
		bench_check(dlock_acquire_start(w->lock[i % w->names], -1,
						granted, NULL, NULL),
			    "dlock_acquire_start");
	await_waiters(w->client, n);
	return bench_now() - begin;
}

/* Release the mutexes.  Return the time until all acquires are granted. */
static int64_t serve(struct crowd *w, size_t n)
{
	struct pollfd p = { .fd = dlock_client_fd(w->client),
			    .events = POLLIN };
	int64_t begin = bench_now(), until = begin + 60000 * BENCH_MS;

	served = 0;
	for (size_t i = 0; i < w->names; i++)
		bench_check(dlock_release(w->hold[i]), "dlock_release");
	while (served < n) {
		bench_wait(until, "grants");
		if (poll(&p, 1, 100) == 1)
			(void)dlock_process(w->client, 0);
	}
	return bench_now() - begin;
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	double before = threads();
	struct bench_memory least, most;
	struct crowd w;

	crowd_make(&w, s, 1);
	malloc_trim(0);
	least = bench_memory();
	bench_extra(&res, (double)ask(&w, c->n) / c->n, "ask_ns");
	res.value = threads() - before;
	most = bench_memory();
	bench_extra(&res, (most.heap - least.heap) / c->n, "heap_each");
	bench_extra(&res, (most.resident - least.resident) / c->n, "rss_each");
	bench_extra(&res, (double)serve(&w, c->n) / c->n, "serve_ns");
	res.samples = c->n;
	bench_text(&res, "scheme", s->desc->name);
	crowd_free(&w);
	bench_emit(&res, c);
}

static void measure_served(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	struct crowd w;

	crowd_make(&w, s, NAMES);
	bench_extra(&res, (double)ask(&w, c->n) / c->n, "ask_ns");
	res.value = (double)serve(&w, c->n) / BENCH_MS;
	res.samples = c->n;
	bench_text(&res, "scheme", s->desc->name);
	crowd_free(&w);
	bench_emit(&res, c);
}

const struct workload workload_pending = { .measure = measure };
const struct workload workload_served = { .measure = measure_served, .pin = 1 };
