/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/waiters.h"
#include "bench/crowd.h"

#include <pthread.h>

#define PROCESSES 8
#define THREADS (WAITERS / PROCESSES)
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
	const char *uri = arg;
	struct pack p = { .crowd = c, .lock = { .run = c->run } };
	pthread_t thread[THREADS];
	unsigned int n = 0;
	int rc;

	(void)me;
	rc = dlock_open(&p.lock.client, uri, NULL);
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

static struct waiters_load between(struct waiters_load before,
				   struct waiters_load after, double parts)
{
	return (struct waiters_load){
		.heard = (after.heard - before.heard) / parts,
		.said = (after.said - before.said) / parts,
	};
}

static int idle(const struct waiters *w, struct waiters_figures *out)
{
	struct waiters_load before, after;
	int64_t begin = bench_now();
	int rc = w->load(w->store, &before);

	bench_sleep((int64_t)(w->idle_s * 1e9));
	if (rc == 0)
		rc = w->load(w->store, &after);
	if (rc != 0)
		return rc;
	out->idle_s = (double)(bench_now() - begin) / 1e9;
	out->idle = between(before, after, 1);
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

static int chain(const struct waiters *w, const struct crowd *c,
		 struct waiters_figures *out, struct bench_result *res)
{
	struct bench_samples took;
	struct waiters_load before, after;
	int64_t begin = bench_now();
	int rc = bench_samples_init(&took, HAND_OFFS);

	if (rc != 0)
		return bench_fail(c->run, "out of memory");
	rc = w->load(w->store, &before);
	for (uint64_t i = 1; i <= HAND_OFFS && rc == 0; i++)
		rc = hand_off(c, i, &took);
	out->chain_s = (double)(bench_now() - begin) / 1e9;
	if (rc == 0)
		rc = w->load(w->store, &after);
	if (rc == 0) {
		out->chain = between(before, after, HAND_OFFS);
		res->p50 = bench_percentile(&took, 50);
		res->p99 = bench_percentile(&took, 99);
		res->value = res->p50;
		res->samples = took.n;
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

static int with_crowd(const struct waiters *w, struct crowd *c,
		      struct waiters_figures *out, struct bench_result *res)
{
	struct bench_lock first = { .run = w->run };
	uint64_t before, after;
	int rc = dlock_open(&first.client, w->uri, NULL);

	if (rc == 0)
		rc = dlock_mutex_new(&first.lock, first.client, "crowd");
	if (rc == 0)
		rc = dlock_acquire(first.lock, 0, &first.hold);
	if (rc != 0)
		return bench_fail_dlock(w->run, rc, "the first lock");
	rc = crowd_begin(c);
	if (rc == 0)
		rc = until_queued(&first, c);
	if (rc == 0)
		rc = idle(w, out);
	if (rc == 0)
		rc = count_wakes(c, BEFORE, &before);
	if (rc == 0)
		rc = give_first(c, &first);
	if (rc == 0)
		rc = chain(w, c, out, res);
	if (rc == 0)
		rc = count_wakes(c, AFTER, &after);
	if (rc == 0)
		out->wakes = (double)(after - before) / (HAND_OFFS + 1);
	bench_lock_close(&first);
	return rc;
}

/* A client that no server answers as such is found out before the crowd is
 * made, by one that is closed again. */
static int prove(const struct waiters *w)
{
	struct bench_lock l;
	int rc = bench_lock_open(&l, w->run, w->uri);

	if (rc == 0)
		bench_lock_close(&l);
	return rc;
}

int waiters_measure(const struct waiters *w, struct waiters_figures *out,
		    struct bench_result *res)
{
	struct crowd c = { .run = w->run, .work = work };
	int rc = prove(w);

	if (rc != 0)
		return rc;
	c.arg = (void *)(uintptr_t)w->uri;
	rc = crowd_start(&c, PROCESSES);
	if (rc == 0)
		rc = with_crowd(w, &c, out, res);
	if (crowd_end(&c) != 0)
		rc = -1;
	return rc;
}
