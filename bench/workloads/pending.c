/* SPDX-License-Identifier: Apache-2.0 */
/* Many calls of a client that wait for a mutex: threads and bytes, and how fast
 * they are served then. */
#include "bench/store.h"

#include <dirent.h>
#include <dlock/async.h>
#include <malloc.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

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

static void serve(dlock_client *c, size_t n)
{
	struct pollfd p = { .fd = dlock_client_fd(c), .events = POLLIN };
	int64_t until = bench_now() + 60000 * BENCH_MS;

	while (served < n) {
		bench_wait(until, "grants");
		if (poll(&p, 1, 100) == 1)
			(void)dlock_process(c, 0);
	}
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct bench_result res = BENCH_RESULT;
	double before = threads();
	dlock_client *client = store_client(s), *holder = store_client(s);
	struct bench_memory least, most;
	dlock_lock *lock, *held;
	dlock_hold *hold;
	int64_t begin;

	bench_check(dlock_mutex_new(&lock, client, "bench"), "dlock_mutex_new");
	bench_check(dlock_lock_unbind(lock), "dlock_lock_unbind");
	bench_check(dlock_mutex_new(&held, holder, "bench"), "dlock_mutex_new");
	bench_check(dlock_acquire(held, 10000, &hold), "dlock_acquire");
	malloc_trim(0);
	least = bench_memory();
	begin = bench_now();
	for (unsigned int i = 0; i < c->n; i++)
		bench_check(dlock_acquire_start(lock, -1, granted, NULL, NULL),
			    "dlock_acquire_start");
	await_waiters(client, c->n);
	bench_extra(&res, (double)(bench_now() - begin) / c->n, "ask_ns");
	res.value = threads() - before;
	most = bench_memory();
	bench_extra(&res, (most.heap - least.heap) / c->n, "heap_each");
	bench_extra(&res, (most.resident - least.resident) / c->n, "rss_each");
	served = 0;
	begin = bench_now();
	bench_check(dlock_release(hold), "dlock_release");
	serve(client, c->n);
	bench_extra(&res, (double)(bench_now() - begin) / c->n, "serve_ns");
	res.samples = c->n;
	bench_text(&res, "scheme", s->desc->name);
	dlock_lock_free(lock);
	dlock_lock_free(held);
	dlock_close(client);
	dlock_close(holder);
	bench_emit(&res, c);
}

const struct workload workload_pending = { .measure = measure };
