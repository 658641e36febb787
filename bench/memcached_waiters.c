/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/crowd.h"
#include "bench/memcached_side.h"

#include <pthread.h>
#include <stdio.h>

#define PROCESSES 8
#define MOST 64
#define HAND_OFFS 50
#define PATIENCE_MS 120000
#define REST_NS INT64_C(300000000)
#define IDLE_NS INT64_C(3000000000)
#define LATE_NS INT64_C(30000000000)

enum { GIVEN, TAKEN };

struct scene {
	struct memcached_side side;
	unsigned int waiters; /* in all processes */
};

struct pack {
	struct crowd *crowd;
	struct bench_lock lock;
};

/* Wait, and say when it came if it is the first since that is asked. */
static void *waiter(void *arg)
{
	struct pack *p = arg;
	struct crowd_shared *shared = p->crowd->shared;

	while (!atomic_load(&shared->stop)) {
		dlock_hold *hold;
		int rc = dlock_acquire(p->lock.lock, PATIENCE_MS, &hold);

		if (rc == DLOCK_ECANCELED)
			continue;
		if (rc != 0) {
			atomic_store(&shared->failed, 1);
			return NULL;
		}
		if (atomic_exchange(&shared->last, 0)) {
			atomic_store(&shared->at[TAKEN], bench_now());
			atomic_fetch_add(&shared->count, 1);
		}
		dlock_release(hold);
		bench_sleep(REST_NS);
	}
	return NULL;
}

static int work(struct crowd *c, uint32_t me, void *arg)
{
	const struct scene *scene = arg;
	struct pack p = { .crowd = c, .lock = { .run = c->run } };
	pthread_t thread[MOST];
	unsigned int mine = (scene->waiters + PROCESSES - me) / PROCESSES;
	unsigned int n = 0;
	int rc = dlock_open(&p.lock.client, scene->side.uri[1], NULL);

	if (rc == 0)
		rc = dlock_mutex_new(&p.lock.lock, p.lock.client, "crowd");
	if (rc != 0)
		return bench_fail_dlock(c->run, rc, "a process's lock");
	crowd_gate(c);
	while (n < mine && pthread_create(&thread[n], NULL, waiter, &p) == 0)
		n++;
	while (!atomic_load(&c->shared->stop))
		bench_sleep(1000000);
	for (unsigned int i = 0; i < n; i++) {
		dlock_cancel(p.lock.lock);
		pthread_join(thread[i], NULL);
	}
	bench_lock_close(&p.lock);
	return 0;
}

static int await_turn(const struct crowd *c, uint64_t turn)
{
	int64_t until = bench_now() + LATE_NS;

	while (atomic_load(&c->shared->count) < turn) {
		if (bench_over(until) || atomic_load(&c->shared->failed))
			return bench_fail(c->run, "hand-off %llu is missing",
					  (unsigned long long)turn);
		bench_sleep(200000);
	}
	return 0;
}

/* Requests to take while nothing happens, in a second. */
static double idle(struct scene *s)
{
	int64_t begin;
	double before;

	bench_sleep(IDLE_NS / 10);
	begin = bench_now();
	before = memcached_adds(&s->side);
	bench_sleep(IDLE_NS);
	return (memcached_adds(&s->side) - before) * 1e9 /
	       (double)(bench_now() - begin);
}

/* The holder is none of the waiters' processes. */
static int hand_off(struct bench_lock *l, const struct crowd *c, uint64_t turn,
		    struct bench_samples *took)
{
	int rc = turn > 1 ? bench_lock_take(l) : 0;

	if (rc != 0)
		return rc;
	/* Until all wait again, and at no time of their choice. */
	bench_sleep(2 * REST_NS + (int64_t)(turn * 7919 % 97) * 1000000);
	atomic_store(&c->shared->last, 1);
	atomic_store(&c->shared->at[GIVEN], bench_now());
	rc = bench_lock_give(l);
	if (rc == 0)
		rc = await_turn(c, turn);
	if (rc == 0)
		bench_sample(took,
			     (double)(atomic_load(&c->shared->at[TAKEN]) -
				      atomic_load(&c->shared->at[GIVEN])));
	return rc;
}

static int chain(struct scene *s, struct bench_lock *l, struct crowd *c,
		 struct bench_result *res)
{
	struct bench_samples took;
	int rc = crowd_begin(c);
	double per_s;

	if (rc != 0)
		return rc;
	per_s = idle(s);
	if (bench_samples_init(&took, HAND_OFFS) != 0)
		return bench_fail(c->run, "out of memory");
	for (uint64_t i = 1; i <= HAND_OFFS && rc == 0; i++)
		rc = hand_off(l, c, i, &took);
	res->p50 = res->value = bench_percentile(&took, 50);
	res->p99 = bench_percentile(&took, 99);
	res->samples = took.n;
	bench_samples_free(&took);
	bench_extra(res, "waiters", s->waiters);
	bench_extra(res, "requests_per_s", per_s);
	bench_extra(res, "requests_per_waiter_s", per_s / s->waiters);
	return rc;
}

/* With the lock held by this process while the crowd comes. */
static int held(struct scene *s, struct crowd *c, struct bench_result *res)
{
	struct bench_lock l = { .run = c->run };
	int rc = dlock_open(&l.client, s->side.uri[1], NULL);

	if (rc == 0)
		rc = dlock_mutex_new(&l.lock, l.client, "crowd");
	if (rc != 0)
		return bench_fail_dlock(c->run, rc, "the holder's lock");
	rc = bench_lock_take(&l);
	if (rc == 0)
		rc = chain(s, &l, c, res);
	bench_lock_close(&l);
	return rc;
}

static int with(struct scene *s, unsigned int waiters)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ns from release to the next, of waiters in 8 processes");
	struct crowd c = { .run = s->side.run, .work = work, .arg = s };
	int rc;

	s->waiters = waiters;
	rc = crowd_start(&c, PROCESSES);
	if (rc == 0)
		rc = held(s, &c, &res);
	if (crowd_end(&c) != 0)
		rc = -1;
	if (rc == 0)
		bench_emit(s->side.run, &res);
	return rc;
}

static int run(struct bench_run *r)
{
	struct scene s;
	int rc = memcached_side_open(&s.side, r);

	if (rc != 0)
		return rc;
	rc = with(&s, 1);
	if (rc == 0)
		rc = with(&s, 8);
	if (rc == 0)
		rc = with(&s, MOST);
	memcached_side_close(&s.side);
	return rc;
}

const struct bench bench_memcached_waiters = {
	.name = "memcached.waiters",
	.summary = "memcached: 1, 8 and 64 waiters in 8 processes: what they "
		   "ask while they wait, and how long a hand-off takes",
	.run = run,
};
