/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/worker.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct worker {
	struct workers *plan;
	struct worker_report *report;
	unsigned int me; /* from 0 */
	struct bench_lock *lock[2];
	struct waiter *waiter; /* n threads, by WORKER_QUEUE */
	unsigned int n;
};

struct waiter {
	const struct workers *plan;
	struct bench_lock *lock; /* the first has the worker's */
	uint32_t id;             /* unique among all workers, from 1 */
	pthread_t thread;
};

const struct lock_ops *workers_ops(int which)
{
	return which == BENCH_OURS ? &lock_dlock : run->bench->floor;
}

static void open_lock(struct worker *w, int which)
{
	const struct bench_store *s = w->plan->store;

	w->lock[which] = s->desc->one_process ?
				 bench_lock_share(w->plan->first[which]) :
				 bench_lock_open(workers_ops(which), s);
}

static void read_counters(const struct bench_lock *l,
			  struct worker_counters *now)
{
	now->at = bench_now();
	now->dlock.size = sizeof(now->dlock);
	if (l->client)
		dlock_get_stats(l->client, &now->dlock);
	getrusage(RUSAGE_SELF, &now->kernel);
}

static void acquire_once(struct worker *w, struct bench_lock *l)
{
	read_counters(l, &w->report->before);
	atomic_fetch_add(&w->report->entered, 1);
	l->ops->acquire(l);
	atomic_store(&w->plan->shared->granted_at, bench_now());
	read_counters(l, &w->report->after);
	l->ops->release(l);
}

/* Count a grant, unless the thread acquired the lock it has just released, and
 * so kept it from the others. */
static uint64_t count_grant(struct worker_shared *shared, uint32_t me)
{
	int64_t now = bench_now();
	uint64_t n = atomic_load(&shared->count);

	if (atomic_exchange(&shared->last, me) == me)
		return n;
	if (++n == atomic_load(&shared->turn))
		atomic_store(&shared->granted_at, now);
	atomic_store(&shared->count, n);
	return n;
}

static void *waiter_main(void *arg)
{
	struct waiter *t = arg;
	struct worker_shared *shared = t->plan->shared;

	do {
		uint64_t n;

		t->lock->ops->acquire(t->lock);
		n = count_grant(shared, t->id);
		while (t->plan->once && atomic_load(&shared->turn) <= n &&
		       !atomic_load(&shared->stop))
			bench_sleep(100000);
		if (t->plan->once)
			atomic_store(&shared->released_at, bench_now());
		t->lock->ops->release(t->lock);
		if (t->plan->rest_ns > 0)
			bench_sleep(t->plan->rest_ns);
	} while (!t->plan->once && !atomic_load(&shared->stop));
	return NULL;
}

/* The threads share client and handle, as they would in a program. */
static void start_waiters(struct worker *w, struct bench_lock *first)
{
	const struct workers *plan = w->plan;

	w->n = (plan->waiters + WORKERS - 1 - w->me) / WORKERS;
	w->waiter = bench_alloc(w->n + 1, sizeof(*w->waiter));
	for (unsigned int i = 0; i < w->n; i++) {
		struct waiter *t = &w->waiter[i];

		t->plan = plan;
		t->lock = i == 0 ? first : bench_lock_share(first);
		t->id = 1 + w->me + i * WORKERS;
		bench_thread(&t->thread, waiter_main, t);
	}
}

static void end_waiters(struct worker *w)
{
	for (unsigned int i = 0; i < w->n; i++)
		pthread_join(w->waiter[i].thread, NULL);
	for (unsigned int i = 1; i < w->n; i++)
		bench_lock_close(w->waiter[i].lock);
	free(w->waiter);
}

static void execute(struct worker *w, const struct worker_message *m)
{
	struct bench_lock *l = w->lock[m->which];

	if (m->order == WORKER_OPEN)
		open_lock(w, m->which);
	else if (m->order == WORKER_ACQUIRE)
		acquire_once(w, l);
	else if (m->order == WORKER_QUEUE)
		start_waiters(w, l);
	else if (m->order == WORKER_COUNT)
		read_counters(l, &w->report->after);
	else
		end_waiters(w);
}

void worker_run(struct workers *plan, unsigned int i, int fd)
{
	struct worker w = { .plan = plan, .me = i };
	struct worker_message m = { .order = WORKER_OPEN };

	w.report = &plan->shared->report[i];
	w.report->pid = getpid();
	w.report->tid = (pid_t)syscall(SYS_gettid);
	while (m.order != WORKER_END &&
	       recv(fd, &m, sizeof(m), 0) == sizeof(m)) {
		execute(&w, &m);
		send(fd, "", 1, MSG_NOSIGNAL);
	}
	for (int which = 0; which < 2; which++)
		if (w.lock[which])
			bench_lock_close(w.lock[which]);
	close(fd);
}
