/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/crowd.h"
#include "bench/zk_side.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define TTL_MS 500  /* as in the URI */
#define TICK_MS 100 /* the lab's */
#define VICTIMS CROWD_MOST
#define FEW 4 /* with --check */
#define PATIENCE_MS 20000
#define MS INT64_C(1000000)

enum { KILLED, TAKEN };

/* Take it when it is this one's turn, and die with it. */
static int victim(struct crowd *c, uint32_t me, void *arg)
{
	struct zk_side *s = arg;
	struct bench_lock l = { .run = c->run };
	int rc;

	while (atomic_load(&c->shared->last) < me &&
	       !atomic_load(&c->shared->stop))
		bench_sleep(MS);
	if (atomic_load(&c->shared->stop))
		return 0;
	rc = bench_lock_open(&l, c->run, s->uri);
	if (rc == 0)
		rc = bench_lock_take(&l);
	if (rc != 0)
		return rc;
	atomic_store(&c->shared->ready, me);
	while (!atomic_load(&c->shared->stop))
		bench_sleep(MS);
	return bench_lock_give(&l);
}

struct killer {
	struct crowd *crowd;
	struct bench_lock *lock; /* of the one that waits */
	unsigned int turn;
	int rc;
};

static void count_waiter(const struct dlock_party *party, void *arg)
{
	*(unsigned int *)arg += party->waiting != 0;
}

/* Wait until the other is in the line, and then some part of the interval of
 * the pings: from the last one the server counts. */
static void *kill_one(void *arg)
{
	struct killer *k = arg;
	int64_t until = bench_now() + PATIENCE_MS * MS;
	unsigned int n = 0;

	while (n == 0 && k->rc == 0 && !bench_over(until)) {
		k->rc = dlock_inspect(k->lock->lock, count_waiter, &n, 1000);
		bench_sleep(MS);
	}
	bench_sleep((int64_t)k->turn * TTL_MS * MS / 3 / VICTIMS);
	atomic_store(&k->crowd->shared->at[KILLED], bench_now());
	kill(k->crowd->pids[k->turn], SIGKILL);
	return NULL;
}

static int follow(struct crowd *c, struct bench_lock *lock, unsigned int turn,
		  struct bench_samples *took)
{
	struct killer k = { c, lock, turn, 0 };
	int64_t until = bench_now() + PATIENCE_MS * MS;
	pthread_t thread;
	int rc;

	atomic_store(&c->shared->last, turn + 1);
	while (atomic_load(&c->shared->ready) != turn + 1) {
		if (bench_over(until) || atomic_load(&c->shared->failed))
			return bench_fail(c->run, "no holder to be killed");
		bench_sleep(MS);
	}
	if (pthread_create(&thread, NULL, kill_one, &k) != 0)
		return bench_fail(c->run, "pthread_create failed");
	rc = bench_lock_take(lock);
	atomic_store(&c->shared->at[TAKEN], bench_now());
	pthread_join(thread, NULL);
	if (k.rc != 0)
		rc = bench_fail_dlock(c->run, k.rc, "dlock_inspect");
	if (rc != 0)
		return rc;
	bench_sample(took, (double)(atomic_load(&c->shared->at[TAKEN]) -
				    atomic_load(&c->shared->at[KILLED])) /
				   1e6);
	return bench_lock_give(lock);
}

static int kill_all(struct crowd *c, const struct zk_side *s,
		    struct bench_result *res)
{
	unsigned int n = c->run->check ? FEW : VICTIMS;
	struct bench_samples took;
	struct bench_lock lock;
	int rc = bench_samples_init(&took, VICTIMS);

	if (rc != 0)
		return bench_fail(c->run, "out of memory");
	rc = bench_lock_open(&lock, c->run, s->uri);
	if (rc == 0) {
		for (unsigned int i = 0; i < n && rc == 0; i++)
			rc = follow(c, &lock, i, &took);
		bench_lock_close(&lock);
	}
	res->value = res->p50 = bench_percentile(&took, 50);
	res->p99 = bench_percentile(&took, 99);
	res->samples = took.n;
	bench_samples_free(&took);
	return rc;
}

static int run(struct bench_run *r)
{
	struct bench_result res = BENCH_RESULT_INIT(
		"ms from SIGKILL of the holder to the next (floor: the bound)");
	struct crowd c = { .run = r, .work = victim, .mortal = 1 };
	struct zk_side s;
	int rc = zk_side_open(&s, r, ZK_TMPFS, "?ttl=500ms");

	if (rc != 0)
		return rc;
	c.arg = &s;
	rc = crowd_start(&c, r->check ? FEW : VICTIMS);
	if (rc == 0)
		rc = kill_all(&c, &s, &res);
	if (crowd_end(&c) != 0)
		rc = -1;
	zk_side_close(&s);
	if (rc != 0)
		return rc;
	res.floor = TTL_MS + TICK_MS;
	res.ratio = res.value / res.floor;
	bench_extra(&res, "ttl_ms", TTL_MS);
	bench_extra(&res, "tick_ms", TICK_MS);
	bench_limit(&res, (struct bench_limit){ "worst of the bound's",
						res.p99 / res.floor, 1, 2,
						BENCH_PLAIN });
	bench_emit(r, &res);
	return 0;
}

const struct bench bench_zk_killed = {
	.name = "zk.killed",
	.summary = "zk: from SIGKILL of the holder until the next has it; "
		   "floor: the session time-out and one tick",
	.run = run,
};
