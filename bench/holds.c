/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"
#include "bench/null.h"
#include "bench/stop.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define HOLDS 100000
#define TTL_S 3

struct crowd {
	struct bench_run *run;
	dlock_client *client;
	dlock_lock **lock; /* HOLDS each */
	dlock_hold **hold;
	size_t n;         /* held */
	double heap, rss; /* bytes a hold */
	double acquire_ns, release_ns;
};

static double heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return (double)info.uordblks + (double)info.hblkhd;
}

static double resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	long pages = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%*d %ld", &pages) != 1)
		pages = 0;
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static int take_one(struct crowd *c)
{
	char name[32];
	int rc;

	snprintf(name, sizeof(name), "holds/%06zu", c->n);
	rc = dlock_mutex_new(&c->lock[c->n], c->client, name);
	if (rc != 0)
		return bench_fail_dlock(c->run, rc, "dlock_mutex_new");
	rc = dlock_acquire(c->lock[c->n], 10000, &c->hold[c->n]);
	if (rc == 0) {
		c->n++;
		return 0;
	}
	dlock_free(c->lock[c->n]);
	return bench_fail_dlock(c->run, rc, "dlock_acquire");
}

/* What earlier benches have freed goes back first: filling it again would look
 * like no growth at all. */
static int take_all(struct crowd *c)
{
	double heap, rss;
	int64_t begin;
	int rc = 0;

	malloc_trim(0);
	heap = heap_bytes();
	rss = resident_bytes();
	begin = bench_now();
	while (rc == 0 && c->n < HOLDS && !bench_stopped)
		rc = take_one(c);
	c->acquire_ns = (double)(bench_now() - begin) / HOLDS;
	c->heap = (heap_bytes() - heap) / HOLDS;
	c->rss = (resident_bytes() - rss) / HOLDS;
	return rc;
}

static void give_all(struct crowd *c)
{
	int64_t begin = bench_now();

	for (size_t i = 0; i < c->n; i++) {
		int rc = dlock_release(c->hold[i]);

		if (rc != 0)
			bench_fail_dlock(c->run, rc, "dlock_release");
		dlock_free(c->lock[i]);
	}
	c->release_ns = (double)(bench_now() - begin) / HOLDS;
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Every hold must come through several renewals. */
static int64_t hold_for_ns(const struct bench_run *r)
{
	double seconds = r->check ? TTL_S + 1.5 : 10;

	if (r->seconds > seconds)
		seconds = r->seconds;
	return (int64_t)(seconds * 1e9);
}

static int keep(struct crowd *c, struct bench_result *res)
{
	struct dlock_stats stats = { .size = sizeof(stats) };
	struct null_figures renewed;
	int64_t begin = bench_now();
	int64_t until = begin + hold_for_ns(c->run);
	double cpu = cpu_ms(), seconds;

	while (!bench_over(until))
		bench_sleep(until - bench_now());
	seconds = (double)(bench_now() - begin) / 1e9;
	cpu = cpu_ms() - cpu;
	renewed = null_take_figures();
	dlock_get_stats(c->client, &stats);
	if (stats.holds != HOLDS || stats.lost > 0)
		bench_fail(c->run, "%llu of %d holds stand, %llu were lost",
			   (unsigned long long)stats.holds, HOLDS,
			   (unsigned long long)stats.lost);
	for (size_t i = 0; i < c->n; i++) {
		int rc = dlock_check(c->hold[i]);

		if (rc != 0)
			return bench_fail(c->run, "dlock_check: %s",
					  dlock_strerror(rc));
	}
	res->value = (double)stats.renew_late;
	res->samples = renewed.renewals;
	bench_extra(res, "renew_failed", (double)stats.renew_failed);
	bench_extra(res, "latest_ms", (double)renewed.latest_ns / 1e6);
	bench_extra(res, "cpu_ms_per_s", cpu / seconds);
	bench_extra(res, "held_s", seconds);
	bench_extra(res, "batch",
		    renewed.batches ?
			    (double)renewed.renewals / (double)renewed.batches :
			    0);
	return 0;
}

static void emit(const struct crowd *c, struct bench_result *res)
{
	double bytes = c->heap > c->rss ? c->heap : c->rss;

	bench_extra(res, "holds", HOLDS);
	bench_extra(res, "bytes_per_hold", bytes);
	bench_extra(res, "heap_per_hold", c->heap);
	bench_extra(res, "rss_per_hold", c->rss);
	bench_extra(res, "acquire_ns", c->acquire_ns);
	bench_extra(res, "release_ns", c->release_ns);
	bench_limit(res, (struct bench_limit){ "value", res->value, 0, 0,
					       BENCH_PLAIN });
	bench_limit(res, (struct bench_limit){ "bytes_per_hold", bytes, 1024,
					       1024, BENCH_PLAIN });
	bench_emit(c->run, res);
}

static int measure(struct crowd *c)
{
	struct bench_result res = BENCH_RESULT_INIT("late renewals");
	int rc = dlock_open(&c->client, "null:?ttl=3s", NULL);

	if (rc != 0)
		return bench_fail_dlock(c->run, rc, "dlock_open");
	null_take_figures();
	rc = take_all(c);
	if (rc == 0 && c->n == HOLDS)
		rc = keep(c, &res);
	give_all(c);
	dlock_close(c->client);
	if (rc == 0 && !bench_stopped)
		emit(c, &res);
	return rc;
}

static int run(struct bench_run *r)
{
	struct crowd c = { .run = r };
	int rc = null_register(r);

	if (rc != 0)
		return rc;
	c.lock = calloc(HOLDS, sizeof(dlock_lock *));
	c.hold = calloc(HOLDS, sizeof(dlock_hold *));
	if (!c.lock || !c.hold) {
		rc = bench_fail(r, "out of memory");
	} else {
		/* So that their pages do not count. */
		for (size_t i = 0; i < HOLDS; i++) {
			((dlock_lock *volatile *)c.lock)[i] = NULL;
			((dlock_hold *volatile *)c.hold)[i] = NULL;
		}
		rc = measure(&c);
	}
	free(c.lock);
	free(c.hold);
	return rc;
}

const struct bench bench_holds = {
	.name = "holds.100k",
	.summary = "100,000 holds of one client with a lease of 3 s, in a "
		   "store that costs nothing: late renewals, CPU, bytes",
	.run = run,
};
