/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of a worker's threads: a use of a lock, from the acquire to the
 * release, again and again.
 */
#ifndef DLOCK_CHAOS_USE_H
#define DLOCK_CHAOS_USE_H

#include <dlock/async.h>
#include <pthread.h>
#include <stdatomic.h>

#include "chaos/random.h"
#include "chaos/worker.h"
#include "lab/history/resource.h"
#include "lab/worker/holds.h"

struct chaos_name { /* a lock, and the guarded resource */
	const char *name;
	enum lab_mode mode;
	unsigned limit;
};

#define CHAOS_NAMES 7
extern const struct chaos_name chaos_names[CHAOS_NAMES];

struct chaos_thread {
	struct chaos_worker *w;
	struct chaos_random random;
	pthread_t thread;
	dlock_lock *own[CHAOS_NAMES];
	/* An endless wait to be cancelled then, or NULL. */
	pthread_mutex_t lock; /* for these two */
	dlock_lock *waits;
	int64_t cancel_at;
};

struct chaos_worker {
	const struct chaos_job *job;
	struct chaos_counters *counters;
	struct lab_history *history;
	struct lab_holds holds;
	struct lab_resource *guarded[CHAOS_NAMES];
	dlock_client *client;
	dlock_lock *shared[CHAOS_NAMES]; /* handles of all threads */
	atomic_bool stop;
	struct chaos_thread threads[CHAOS_THREADS];
	uint64_t retaken, passed; /* by the client, as counted last */
};

/* A handle for the name with index `i`. */
int chaos_make_handle(dlock_client *c, int i, enum lab_mode mode,
		      dlock_lock **out);

int chaos_make_handles(struct chaos_worker *w, dlock_lock *out[CHAOS_NAMES],
		       int own);

void chaos_use_lock(struct chaos_thread *me);

/* The on_event of a worker's clients; `arg` is the worker. */
void chaos_on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		    void *arg);

/* Cancel this thread's wait if it is time, or if all are to end. */
void chaos_cancel(struct chaos_thread *t);

#endif
