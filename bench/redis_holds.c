/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/server.h"
#include "bench/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TTL_S 10 /* as in the URI */
#define FEW 10000
#define MANY 100000

struct crop {
	struct bench_run *run;
	dlock_client *client;
	dlock_lock **lock;
	dlock_hold **hold;
	size_t n, room;
};

static int take_all(struct crop *c)
{
	while (c->n < c->room && !bench_stopped) {
		char name[32];
		int rc;

		snprintf(name, sizeof(name), "holds/%06zu", c->n);
		rc = dlock_mutex_new(&c->lock[c->n], c->client, name);
		if (rc != 0)
			return bench_fail_dlock(c->run, rc, "dlock_mutex_new");
		rc = dlock_acquire(c->lock[c->n], 10000, &c->hold[c->n]);
		if (rc != 0) {
			dlock_free(c->lock[c->n]);
			return bench_fail_dlock(c->run, rc, "dlock_acquire");
		}
		c->n++;
	}
	return bench_stopped ? -1 : 0;
}

static void give_all(struct crop *c)
{
	for (size_t i = 0; i < c->n; i++) {
		int rc = dlock_release(c->hold[i]);

		if (rc != 0)
			bench_fail_dlock(c->run, rc, "dlock_release");
		dlock_free(c->lock[i]);
	}
}

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* Every hold comes through three renewals at least. */
static int keep(struct crop *c, struct server *s, struct bench_result *res)
{
	struct dlock_stats stats = { .size = sizeof(stats) }, before = stats;
	int64_t begin = bench_now();
	int64_t until = begin + (TTL_S + 2) * INT64_C(1000000000);
	double cpu = cpu_ms(), seconds;
	struct server_load load;

	dlock_get_stats(c->client, &before);
	while (!bench_over(until))
		bench_sleep(until - bench_now());
	seconds = (double)(bench_now() - begin) / 1e9;
	cpu = cpu_ms() - cpu;
	dlock_get_stats(c->client, &stats);
	if (stats.holds != c->n || stats.lost > 0)
		return bench_fail(c->run,
				  "%llu of %zu holds stand, %llu were "
				  "lost",
				  (unsigned long long)stats.holds, c->n,
				  (unsigned long long)stats.lost);
	if (server_load(s, &load) != 0)
		return -1;
	res->value = (double)(stats.renew_late - before.renew_late);
	res->samples = stats.renewed - before.renewed;
	bench_extra(res, "holds", (double)c->n);
	bench_extra(res, "renewed_per_s", (double)res->samples / seconds);
	bench_extra(res, "renew_failed", (double)stats.renew_failed);
	bench_extra(res, "cpu_ms_per_s", cpu / seconds);
	bench_extra(res, "script_us", load.script_us);
	bench_limit(res, (struct bench_limit){ "value", res->value, 0, 0,
					       BENCH_PLAIN });
	return 0;
}

static int with_client(struct crop *c, struct server *s)
{
	struct bench_result res = BENCH_RESULT_INIT("late renewals");
	int64_t begin = bench_now();
	int rc = take_all(c);

	bench_extra(&res, "acquire_ns",
		    (double)(bench_now() - begin) / (double)c->room);
	if (rc == 0)
		rc = keep(c, s, &res);
	begin = bench_now();
	give_all(c);
	bench_extra(&res, "release_ns",
		    (double)(bench_now() - begin) / (double)c->room);
	if (rc == 0)
		bench_emit(c->run, &res);
	return rc;
}

static int measure(struct server *s, size_t holds)
{
	struct crop c = { .run = s->run, .room = holds };
	int rc = dlock_open(&c.client, s->uri, NULL);

	if (rc == DLOCK_ENOTSUP)
		return bench_skip(s->run, "%s", dlock_errmsg());
	if (rc != 0)
		return bench_fail_dlock(s->run, rc, "dlock_open");
	c.lock = calloc(holds, sizeof(dlock_lock *));
	c.hold = calloc(holds, sizeof(dlock_hold *));
	if (c.lock && c.hold)
		rc = with_client(&c, s);
	else
		rc = bench_fail(s->run, "out of memory");
	free(c.lock);
	free(c.hold);
	dlock_close(c.client);
	return rc;
}

static int run(struct bench_run *r)
{
	struct server s;
	int rc = server_open(&s, r, "?ttl=10s");

	if (rc != 0)
		return rc;
	rc = measure(&s, FEW);
	if (rc == 0 && !r->check)
		rc = measure(&s, MANY);
	server_close(&s);
	return rc;
}

const struct bench bench_redis_holds = {
	.name = "redis.holds",
	.summary = "redis: 10,000 and 100,000 holds of one client with a "
		   "lease of 10 s: late renewals, CPU",
	.run = run,
};
