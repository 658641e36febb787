/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hand-off: from just before the holder's release until acquire has returned in
 * the waiter, which is another process or thread.  The waiter is known to sleep
 * before the clock starts, and the holder sleeps right after the release.
 */
#include "bench/worker.h"

#include <math.h>
#include <unistd.h>

#define ROUNDS 11
#define SAMPLES 100000
#define LOOK_NS 100000 /* between two checks whether the waiter sleeps */
#define BLOCKED_NS (10000 * BENCH_MS)

/* This process is the holder, and the worker is the waiter. */
struct handoff {
	struct workers workers;
	struct bench_lock *lock[2];
	uint32_t ordered; /* hand-offs, so far */
	int stat_fd;      /* /proc/PID/task/TID/stat of the waiter */
	struct bench_turns turns;
};

/* Wait until three checks in a row find the waiter asleep. */
static void until_blocked(const struct handoff *h)
{
	const struct worker_report *waiter = &h->workers.shared->report[0];
	int64_t until = bench_now() + BLOCKED_NS;
	int looks = 0;

	while (looks < 3) {
		bench_wait(until, "the waiter does not block");
		bench_sleep(LOOK_NS);
		if (atomic_load(&waiter->entered) == h->ordered &&
		    bench_is_asleep(h->stat_fd))
			looks++;
		else
			looks = 0;
	}
}

/* Acquire, let the waiter block and wait for `wait_ns` more, release.  Returns
 * how long the hand-off took. */
static int64_t hand_off(struct handoff *h, int which, int64_t wait_ns)
{
	struct bench_lock *l = h->lock[which];
	int64_t begin;

	l->ops->acquire(l);
	h->ordered++;
	worker_order(&h->workers, 0, WORKER_ACQUIRE, which);
	until_blocked(h);
	if (wait_ns > 0)
		bench_sleep(wait_ns);
	begin = bench_now();
	l->ops->release(l);
	worker_answer(&h->workers, 0);
	return atomic_load(&h->workers.shared->granted_at) - begin;
}

/* The median of as many as fit into `ns`, of five at least. */
static double round_of(struct handoff *h, int which, int64_t ns)
{
	int64_t settle_ns = h->workers.store->desc->settle_ns;
	struct bench_lock *l = h->lock[which];
	struct bench_samples round = bench_samples(4096);
	int64_t until = bench_now() + ns;

	while (round.n < 5 || bench_now() < until) {
		double took = (double)hand_off(h, which, settle_ns);

		bench_sample(&round, took);
		bench_sample(&h->turns.single[which], took);
		if (l->ops->beside)
			l->ops->beside(l);
	}
	return bench_median(&round);
}

static void take_turns(struct handoff *h, struct bench_result *res)
{
	int64_t ns = (int64_t)(run->seconds * 1e9 / (2 * (ROUNDS + 1)));
	struct bench_samples *single = h->turns.single;
	double median[2];

	for (int i = 0; i <= ROUNDS; i++) {
		for (int j = i; j < i + 2; j++)
			median[j % 2] = round_of(h, j % 2, ns);
		/* The first round warms up. */
		if (i == 0)
			single[0].n = single[1].n = 0;
		else
			bench_turn(&h->turns, median);
	}
	bench_extra(res, (double)single[BENCH_FLOOR].n, "floor_samples");
	bench_turns_figures(&h->turns, res);
}

/* Keep the waiter waiting for up to two seconds, and report the waiter's
 * cost. */
static void idle(struct handoff *h, struct bench_result *res)
{
	const struct worker_counters *a = &h->workers.shared->report[0].before;
	const struct worker_counters *b = &h->workers.shared->report[0].after;
	double seconds = run->seconds < 2 ? run->seconds : 2;
	double attempts, polls, wakeups;

	hand_off(h, BENCH_OURS, (int64_t)(seconds * 1e9));
	seconds = (double)(b->at - a->at) / 1e9;
	/* The first attempt, and the granted attempt, are no polls. */
	attempts = (double)(b->dlock.attempts - a->dlock.attempts) - 2;
	polls = (double)(b->dlock.polls - a->dlock.polls);
	wakeups = (double)(b->kernel.ru_nvcsw - a->kernel.ru_nvcsw +
			   b->kernel.ru_nivcsw - a->kernel.ru_nivcsw);
	bench_extra(res, seconds, "waited_s");
	bench_extra(res, fmax(attempts, 0) / seconds, "attempts_per_s");
	bench_extra(res, polls / seconds, "polls_per_s");
	bench_extra(res, wakeups / seconds, "wakeups_per_s");
}

/* Start a worker process first, while this process has no client; a worker
 * thread shares this thread's locks. */
static void measure(struct bench_store *s, const struct bench_case *c)
{
	const struct lock_ops *floor = run->bench->floor;
	struct bench_result res = BENCH_RESULT;
	struct handoff h = {
		.workers = { .store = s, .first = h.lock },
		.turns = bench_turns(ROUNDS, SAMPLES),
	};

	if (floor->prepare)
		floor->prepare(s);
	workers_start(&h.workers, c->n);
	for (int i = 0; i < 2; i++) {
		h.lock[i] = bench_lock_open(workers_ops(i), s);
		workers_order(&h.workers, WORKER_OPEN, i);
	}
	h.stat_fd = bench_open_stat(h.workers.shared->report[0].pid,
				    h.workers.shared->report[0].tid);
	take_turns(&h, &res);
	if (!s->desc->one_process)
		idle(&h, &res);
	close(h.stat_fd);
	workers_end(&h.workers);
	for (int i = 0; i < 2; i++)
		bench_lock_close(h.lock[i]);
	if (floor->finish)
		floor->finish(s, &res);
	bench_emit(&res, c);
}

const struct workload workload_handoff = { .measure = measure, .pin = 1 };
