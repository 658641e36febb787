/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/crowd.h"
#include "bench/memcached_side.h"

#include <pthread.h>
#include <stdio.h>

#define PROCESSES 8
#define MOST 64
#define HAND_OFFS 15 /* for each second that the bench is given */
#define POLL_MS 100  /* as the store has it by default */
#define PATIENCE_MS 120000
#define REST_NS INT64_C(300000000)
#define IDLE_NS INT64_C(3000000000)
#define LATE_NS INT64_C(30000000000)

enum { GIVEN, TAKEN };

struct scene {
	struct memcached_side side;
	unsigned int waiters; /* in all processes */
	/* Of the lock that they wait for, which this process holds. */
	int (*measure)(struct scene *s, struct bench_lock *l, struct crowd *c);
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
		if (rc == 0) {
			if (atomic_exchange(&shared->last, 0)) {
				atomic_store(&shared->at[TAKEN], bench_now());
				atomic_fetch_add(&shared->count, 1);
			}
			rc = dlock_release(hold);
		}
		if (rc != 0) {
			bench_fail_dlock(p->lock.run, rc, "a waiter");
			atomic_store(&shared->failed, 1);
			return NULL;
		}
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

static int hand_offs(struct scene *s, struct bench_lock *l, struct crowd *c)
{
	const double half_ns = POLL_MS * 1e6 / 2;
	struct bench_result res = BENCH_RESULT_INIT(
		"ns from release to the next, of waiters in 8 processes "
		"(floor: half the polling interval)");
	struct bench_samples took;
	uint64_t n = (uint64_t)(HAND_OFFS * c->run->seconds);
	int rc = bench_samples_init(&took, n);

	if (rc != 0)
		return bench_fail(c->run, "out of memory");
	for (uint64_t i = 1; i <= n && rc == 0; i++)
		rc = hand_off(l, c, i, &took);
	res.p50 = res.value = bench_percentile(&took, 50);
	res.p99 = bench_percentile(&took, 99);
	res.floor = half_ns;
	res.ratio = res.value / half_ns;
	res.samples = took.n;
	bench_samples_free(&took);
	bench_extra(&res, "waiters", s->waiters);
	bench_limit(&res, (struct bench_limit){ "half a polling interval",
						res.ratio, 1, 2, BENCH_TIME });
	if (s->waiters == PROCESSES)
		bench_limit(&res,
			    (struct bench_limit){ "ms of 8", res.value / 1e6, 5,
						  25, BENCH_TIME });
	if (rc == 0)
		bench_emit(c->run, &res);
	return rc;
}

/* Requests to take while nothing happens. */
static int requests(struct scene *s, struct bench_lock *l, struct crowd *c)
{
	struct bench_result res =
		BENCH_RESULT_INIT("requests/s of all waiters in 8 processes");
	int64_t begin;
	double before;

	(void)l;
	bench_sleep(IDLE_NS / 10);
	begin = bench_now();
	before = memcached_adds(&s->side);
	bench_sleep(IDLE_NS);
	res.value = (memcached_adds(&s->side) - before) * 1e9 /
		    (double)(bench_now() - begin);
	bench_extra(&res, "waiters", s->waiters);
	bench_extra(&res, "per_waiter", res.value / s->waiters);
	/* More of them in a process cost next to nothing. */
	if (s->waiters == PROCESSES)
		bench_limit(&res,
			    (struct bench_limit){ "requests_per_s", res.value,
						  160, 240, BENCH_ALWAYS });
	if (s->waiters > PROCESSES)
		bench_limit(&res,
			    (struct bench_limit){ "requests_per_s", res.value,
						  200, 400, BENCH_ALWAYS });
	if (c->run->errors)
		return -1;
	bench_emit(c->run, &res);
	return 0;
}

/* With the lock held by this process while the crowd comes. */
static int held(struct scene *s, struct crowd *c)
{
	struct bench_lock l = { .run = c->run };
	int rc = dlock_open(&l.client, s->side.uri[1], NULL);

	if (rc == 0)
		rc = dlock_mutex_new(&l.lock, l.client, "crowd");
	if (rc != 0)
		return bench_fail_dlock(c->run, rc, "the holder's lock");
	rc = bench_lock_take(&l);
	if (rc == 0)
		rc = crowd_begin(c);
	if (rc == 0)
		rc = s->measure(s, &l, c);
	bench_lock_close(&l);
	return rc;
}

static int with(struct scene *s, unsigned int waiters)
{
	struct crowd c = { .run = s->side.run, .work = work, .arg = s };
	int rc;

	s->waiters = waiters;
	rc = crowd_start(&c, PROCESSES);
	if (rc == 0)
		rc = held(s, &c);
	if (crowd_end(&c) != 0)
		rc = -1;
	return rc;
}

static int run(struct bench_run *r,
	       int (*measure)(struct scene *s, struct bench_lock *l,
			      struct crowd *c))
{
	struct scene s = { .measure = measure };
	int rc = memcached_side_open(&s.side, r);

	if (rc != 0)
		return rc;
	rc = with(&s, 1);
	if (rc == 0)
		rc = with(&s, PROCESSES);
	if (rc == 0)
		rc = with(&s, MOST);
	memcached_side_close(&s.side);
	return rc;
}

static int run_handoff(struct bench_run *r)
{
	return run(r, hand_offs);
}

static int run_waiters(struct bench_run *r)
{
	return run(r, requests);
}

const struct bench bench_memcached_handoff = {
	.name = "memcached.handoff",
	.summary = "memcached: from release to the next of 1, 8 and 64 waiters "
		   "in 8 processes, to half the polling interval",
	.run = run_handoff,
};

const struct bench bench_memcached_waiters = {
	.name = "memcached.waiters",
	.summary = "memcached: what 1, 8 and 64 waiters in 8 processes ask "
		   "while they wait",
	.run = run_waiters,
};
