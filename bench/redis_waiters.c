/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/crowd.h"
#include "bench/server.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESSES 8
#define THREADS 125
#define WAITERS (PROCESSES * THREADS)
#define TTL_S 6 /* as in the URI */
#define HAND_OFFS 100
#define PATIENCE_MS 120000
#define QUEUE_NS INT64_C(30000000000)

enum { GIVEN, TAKEN };

/* Of crowd_shared.begin, which crowd_begin() makes 1. */
enum { BEFORE = 2, AFTER, NEVER };

/* A process's: its threads share client and handle. */
struct pack {
	struct crowd *crowd;
	struct bench_lock lock;
};

/* Wait, note when it came, give it to the next when told to. */
static void *waiter(void *arg)
{
	struct pack *p = arg;
	struct crowd_shared *shared = p->crowd->shared;
	dlock_hold *hold;
	uint64_t turn;
	int rc = dlock_acquire(p->lock.lock, PATIENCE_MS, &hold);

	if (rc == DLOCK_ECANCELED && atomic_load(&shared->stop))
		return NULL;
	if (rc == 0) {
		atomic_store(&shared->at[TAKEN], bench_now());
		turn = atomic_fetch_add(&shared->count, 1) + 1;
		while (atomic_load(&shared->last) < turn &&
		       !atomic_load(&shared->stop))
			bench_sleep(100000);
		atomic_store(&shared->at[GIVEN], bench_now());
		rc = dlock_release(hold);
	}
	if (rc != 0)
		atomic_store(&shared->failed, 1);
	return NULL;
}

/* Until the others are asked for, or it is over. */
static void stand_by(const struct crowd *c, uint32_t phase)
{
	while (atomic_load(&c->shared->begin) < phase &&
	       !atomic_load(&c->shared->stop))
		bench_sleep(1000000);
}

static void note_wakes(const struct pack *p)
{
	struct dlock_stats stats = { .size = sizeof(stats) };

	dlock_get_stats(p->lock.client, &stats);
	atomic_fetch_add(&p->crowd->shared->wakes, stats.wakes);
	atomic_fetch_add(&p->crowd->shared->ready, 1);
}

static int work(struct crowd *c, uint32_t me, void *arg)
{
	struct server *s = arg;
	struct pack p = { .crowd = c, .lock = { .run = c->run } };
	pthread_t thread[THREADS];
	unsigned int n = 0;
	int rc;

	(void)me;
	rc = dlock_open(&p.lock.client, s->uri, NULL);
	if (rc == 0)
		rc = dlock_mutex_new(&p.lock.lock, p.lock.client, "crowd");
	if (rc != 0)
		return bench_fail_dlock(c->run, rc, "a process's lock");
	crowd_gate(c);
	while (n < THREADS && pthread_create(&thread[n], NULL, waiter, &p) == 0)
		n++;
	stand_by(c, BEFORE);
	note_wakes(&p);
	stand_by(c, AFTER);
	note_wakes(&p);
	stand_by(c, NEVER);
	dlock_cancel(p.lock.lock);
	while (n > 0)
		pthread_join(thread[--n], NULL);
	bench_lock_close(&p.lock);
	return 0;
}

static void count_waiter(const struct dlock_party *party, void *arg)
{
	*(unsigned int *)arg += party->waiting != 0;
}

static int until_queued(struct bench_lock *first, const struct crowd *c)
{
	int64_t until = bench_now() + QUEUE_NS;
	unsigned int n = 0;

	while (n < WAITERS) {
		int rc;

		n = 0;
		rc = dlock_inspect(first->lock, count_waiter, &n, 10000);
		if (rc != 0)
			return bench_fail_dlock(c->run, rc, "dlock_inspect");
		if (bench_over(until) || atomic_load(&c->shared->failed))
			return bench_fail(c->run, "only %u of %d waiters came",
					  n, WAITERS);
		bench_sleep(20000000);
	}
	return 0;
}

/* What they ask while nothing happens. */
static int idle(struct server *s, struct bench_result *res)
{
	struct server_load before, after;
	int64_t begin = bench_now();
	double seconds;
	int rc = server_load(s, &before);

	bench_sleep(TTL_S * INT64_C(1000000000));
	if (rc == 0)
		rc = server_load(s, &after);
	if (rc != 0)
		return rc;
	seconds = (double)(bench_now() - begin) / 1e9;
	bench_extra(res, "looks_per_waiter_ttl",
		    (after.scripts - before.scripts) * TTL_S /
			    (seconds * WAITERS));
	return 0;
}

/* Let the holder give, and see the next take. */
static int hand_off(const struct crowd *c, uint64_t turn,
		    struct bench_samples *took)
{
	int64_t until = bench_now() + QUEUE_NS;

	atomic_store(&c->shared->last, (uint32_t)turn);
	while (atomic_load(&c->shared->count) <= turn) {
		if (bench_over(until) || atomic_load(&c->shared->failed))
			return bench_fail(c->run, "hand-off %llu is missing",
					  (unsigned long long)turn);
		bench_sleep(50000);
	}
	bench_sample(took, (double)(atomic_load(&c->shared->at[TAKEN]) -
				    atomic_load(&c->shared->at[GIVEN])));
	return 0;
}

static int chain(struct server *s, const struct crowd *c,
		 struct bench_result *res)
{
	struct bench_samples took;
	struct server_load before, after;
	int64_t begin = bench_now();
	double seconds;
	int rc = bench_samples_init(&took, HAND_OFFS);

	if (rc != 0)
		return bench_fail(c->run, "out of memory");
	rc = server_load(s, &before);
	for (uint64_t i = 1; i <= HAND_OFFS && rc == 0; i++)
		rc = hand_off(c, i, &took);
	seconds = (double)(bench_now() - begin) / 1e9;
	if (rc == 0)
		rc = server_load(s, &after);
	if (rc == 0) {
		res->p50 = bench_percentile(&took, 50);
		res->p99 = bench_percentile(&took, 99);
		res->value = res->p50;
		res->samples = took.n;
		bench_extra(res, "chain_s", seconds);
		bench_extra(res, "published_per_release",
			    (after.published - before.published) / HAND_OFFS);
		/* Looks of those who wait on among them. */
		bench_extra(res, "requests_per_release",
			    (after.scripts - before.scripts) / HAND_OFFS);
	}
	bench_samples_free(&took);
	return rc;
}

/* How many wakes all processes have seen. */
static int count_wakes(const struct crowd *c, uint32_t phase, uint64_t *wakes)
{
	int64_t until = bench_now() + QUEUE_NS;

	atomic_store(&c->shared->ready, 0);
	atomic_store(&c->shared->wakes, 0);
	atomic_store(&c->shared->begin, phase);
	while (atomic_load(&c->shared->ready) < PROCESSES) {
		if (bench_over(until))
			return bench_fail(c->run, "a process does not answer");
		bench_sleep(1000000);
	}
	*wakes = atomic_load(&c->shared->wakes);
	return 0;
}

static int give_first(const struct crowd *c, struct bench_lock *first)
{
	struct bench_samples none = { 0 };
	int rc = bench_lock_give(first);

	return rc == 0 ? hand_off(c, 0, &none) : rc;
}

static int with_crowd(struct server *s, struct crowd *c,
		      struct bench_result *res)
{
	struct bench_lock first = { .run = s->run };
	uint64_t before, after;
	int rc = dlock_open(&first.client, s->uri, NULL);

	if (rc == 0)
		rc = dlock_mutex_new(&first.lock, first.client, "crowd");
	if (rc == 0)
		rc = dlock_acquire(first.lock, 0, &first.hold);
	if (rc != 0)
		return bench_fail_dlock(s->run, rc, "the first lock");
	rc = crowd_begin(c);
	if (rc == 0)
		rc = until_queued(&first, c);
	if (rc == 0)
		rc = idle(s, res);
	if (rc == 0)
		rc = count_wakes(c, BEFORE, &before);
	if (rc == 0)
		rc = give_first(c, &first);
	if (rc == 0)
		rc = chain(s, c, res);
	if (rc == 0)
		rc = count_wakes(c, AFTER, &after);
	if (rc == 0)
		bench_extra(res, "wakes_per_release",
			    (double)(after - before) / (HAND_OFFS + 1));
	bench_lock_close(&first);
	return rc;
}

/* A client that no server answers as such is found out before the crowd is
 * made, by one that is closed again. */
static int prove(struct server *s)
{
	struct bench_lock l;
	int rc = bench_lock_open(&l, s->run, s->uri);

	if (rc == 0)
		bench_lock_close(&l);
	return rc;
}

static void limits(struct bench_result *res)
{
	for (size_t i = 0; i < res->n_extras; i++) {
		const struct bench_extra *x = &res->extra[i];
		struct bench_limit limit = { x->name, x->value, 0, 0,
					     BENCH_PLAIN };

		if (strcmp(x->name, "wakes_per_release") == 0)
			limit.target = limit.guard = 1;
		else if (strcmp(x->name, "looks_per_waiter_ttl") == 0)
			limit.target = 3.1, limit.guard = 3.5;
		else if (strcmp(x->name, "requests_per_release") == 0)
			limit.target = 4, limit.guard = 20;
		else
			continue;
		bench_limit(res, limit);
	}
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ns from release to the next of 1,000 waiters");
	struct crowd c = { .run = r, .work = work };
	struct server s;
	int rc = server_open(&s, r, "?ttl=6s");

	if (rc != 0)
		return rc;
	server_disconnect(&s);
	rc = prove(&s);
	if (rc == 0) {
		c.arg = &s;
		rc = crowd_start(&c, PROCESSES);
		if (rc == 0)
			rc = with_crowd(&s, &c, &res);
		if (crowd_end(&c) != 0)
			rc = -1;
	}
	server_close(&s);
	if (rc != 0)
		return rc;
	limits(&res);
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_redis_waiters = {
	.name = "redis.waiters",
	.summary = "redis: 1,000 waiters in 8 processes: what they ask while "
		   "they wait, and what one release costs",
	.run = run,
};
