/* SPDX-License-Identifier: Apache-2.0 */
/* Many holds of one client: late renewals, CPU time, bytes. */
#include "bench/store.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct holds {
	const struct bench_store *store;
	dlock_client *client;
	dlock_lock **lock; /* n each */
	dlock_hold **hold;
	size_t n;
	struct bench_result res;
};

static void acquire_all(struct holds *h)
{
	int64_t begin = bench_now();
	char name[32];

	for (size_t i = 0; i < h->n; i++) {
		snprintf(name, sizeof(name), "holds/%06zu", i);
		bench_check(dlock_mutex_new(&h->lock[i], h->client, name),
			    "dlock_mutex_new");
		bench_check(dlock_acquire(h->lock[i], 10000, &h->hold[i]),
			    "dlock_acquire");
	}
	bench_extra(&h->res, (double)(bench_now() - begin) / (double)h->n,
		    "acquire_ns");
}

static void release_all(struct holds *h)
{
	int64_t begin = bench_now();

	for (size_t i = 0; i < h->n; i++) {
		bench_check(dlock_release(h->hold[i]), "dlock_release");
		dlock_lock_free(h->lock[i]);
	}
	bench_extra(&h->res, (double)(bench_now() - begin) / (double)h->n,
		    "release_ns");
}

/* Long enough for several renewals of each hold. */
static double hold_for_s(const struct bench_store *s)
{
	double seconds = run->bench->ttl_ms / 1e3 + (s->desc->load ? 2 : 1.5);

	if (!run->check && seconds < 10)
		seconds = 10;
	return run->seconds > seconds ? run->seconds : seconds;
}

static void keep(struct holds *h)
{
	struct dlock_stats stats = { .size = sizeof(stats) }, before = stats;
	int64_t begin = bench_now();
	clock_t cpu = clock();
	double seconds;

	dlock_get_stats(h->client, &before);
	bench_sleep((int64_t)(hold_for_s(h->store) * 1e9));
	seconds = (double)(bench_now() - begin) / 1e9;
	cpu = clock() - cpu;
	dlock_get_stats(h->client, &stats);
	if (stats.holds != h->n || stats.lost > 0)
		bench_fail("%llu of %zu holds stand, %llu were lost",
			   (unsigned long long)stats.holds, h->n,
			   (unsigned long long)stats.lost);
	for (size_t i = 0; i < h->n; i++)
		bench_check(dlock_check(h->hold[i]), "dlock_check");
	h->res.value = (double)(stats.renew_late - before.renew_late);
	h->res.samples = stats.renewed - before.renewed;
	bench_extra(&h->res, (double)h->n, "holds");
	bench_extra(&h->res, (double)stats.renew_failed, "renew_failed");
	bench_extra(&h->res, (double)cpu * 1e3 / CLOCKS_PER_SEC / seconds,
		    "cpu_ms_per_s");
	if (h->store->desc->load) {
		struct store_load load = h->store->desc->load(h->store);

		bench_extra(&h->res, (double)h->res.samples / seconds,
			    "renewed_per_s");
		bench_extra(&h->res, load.script_us / load.requests,
			    "script_us");
		return;
	}
	bench_extra(&h->res, seconds, "held_s");
	bench_extra(&h->res, (double)null_figures.latest_ns / 1e6, "latest_ms");
	bench_extra(&h->res,
		    (double)null_figures.renewals /
			    (double)null_figures.batches,
		    "batch");
}

/* All pages are touched, so that they do not count later. */
static void *touched(size_t n, size_t size)
{
	void *p = bench_alloc(n, size);

	explicit_bzero(p, n * size);
	return p;
}

static void measure(struct bench_store *s, const struct bench_case *c)
{
	struct holds h = { .store = s, .n = c->n, .res = BENCH_RESULT };
	struct bench_memory before, after;
	double heap, rss;

	h.client = store_client(s);
	h.lock = touched(h.n, sizeof(dlock_lock *));
	h.hold = touched(h.n, sizeof(dlock_hold *));
	/* Return freed memory first: a reuse would not show as growth. */
	malloc_trim(0);
	before = bench_memory();
	acquire_all(&h);
	after = bench_memory();
	heap = (after.heap - before.heap) / (double)h.n;
	rss = (after.resident - before.resident) / (double)h.n;
	if (!s->desc->load) {
		bench_extra(&h.res, heap > rss ? heap : rss, "bytes_per_hold");
		bench_extra(&h.res, heap, "heap_per_hold");
		bench_extra(&h.res, rss, "rss_per_hold");
	}
	keep(&h);
	release_all(&h);
	free(h.lock);
	free(h.hold);
	dlock_close(h.client);
	bench_emit(&h.res, c);
}

const struct workload workload_holds = { .measure = measure };
