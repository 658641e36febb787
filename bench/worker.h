/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker processes.  Each executes an order at a time and answers it.
 *
 * Orders and answers travel over a socket; the measurements are left in shared
 * memory.  worker.c alone knows how an order travels, and orders.c alone how a
 * worker carries it out.
 *
 * Workers are forked: start them while this process has no other thread and no
 * open client.  A worker that fails ends the bench.
 */
#ifndef DLOCK_BENCH_WORKER_H
#define DLOCK_BENCH_WORKER_H

#include "bench/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/types.h>

#define WORKERS 8 /* at most */

enum worker_order {
	WORKER_OPEN,    /* open the lock */
	WORKER_ACQUIRE, /* acquire, note the time, release at once */
	WORKER_QUEUE,   /* start threads that acquire again and again */
	WORKER_COUNT,   /* report the counters */
	WORKER_END      /* let each thread acquire once more, then exit */
};

/* A worker's counters: the library's and the kernel's. */
struct worker_counters {
	int64_t at;
	struct dlock_stats dlock;
	struct rusage kernel;
};

struct worker_message {
	enum worker_order order;
	int which;                /* lock: BENCH_FLOOR or BENCH_OURS */
};

/* A worker's report. */
struct worker_report {
	pid_t pid, tid;
	_Atomic uint32_t entered; /* how often WORKER_ACQUIRE began */
	struct worker_counters before, after; /* of WORKER_ACQUIRE; of
					       * WORKER_COUNT: after */
};

/* In memory shared by all processes. */
struct worker_shared {
	struct worker_report report[WORKERS];
	_Atomic uint32_t stop;
	_Atomic uint32_t last;    /* thread of the last grant, or 0 */
	_Atomic uint64_t count;   /* grants to another thread than the last */
	_Atomic uint64_t turn;    /* the grant of `granted_at` */
	_Atomic int64_t granted_at, released_at;
};

struct workers {
	const struct bench_store *store;
	/* For a store of one process, where the worker is a thread: the shared
	 * locks. */
	struct bench_lock *const *first;
	/* For WORKER_QUEUE: */
	unsigned int waiters;     /* threads of all workers together */
	int once;                 /* each holds until the holder's turn is
				   * over */
	int64_t rest_ns;          /* pause of a thread after each release */
	/* The rest is worker.c's. */
	struct worker_shared *shared;
	unsigned int n;
	int fd[WORKERS];
	pid_t pid[WORKERS];       /* 0: a thread, or killed */
	pthread_t thread;
	int thread_fd;
};

void workers_start(struct workers *w, unsigned int n);

/* Return the lock that WORKER_OPEN opens. */
const struct lock_ops *workers_ops(int which);

void worker_order(struct workers *w, unsigned int i, enum worker_order order,
		  int which);
void worker_answer(struct workers *w, unsigned int i); /* wait for the answer */

/* Give all workers the order, and wait for all answers. */
void workers_order(struct workers *w, enum worker_order order, int which);

/* Wait until shared->count is `count`. */
void workers_await(struct workers *w, uint64_t count);

void worker_kill(struct workers *w, unsigned int i); /* SIGKILL */
void workers_end(struct workers *w);

/* For worker.c: execute orders until WORKER_END. */
void worker_run(struct workers *w, unsigned int i, int fd);

#endif
