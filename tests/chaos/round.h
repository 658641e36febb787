/* SPDX-License-Identifier: Apache-2.0 */
/* One use of one lock, from asking for it to its release.  Of the worker. */
#ifndef DLOCK_CHAOS_ROUND_H
#define DLOCK_CHAOS_ROUND_H

#include <dlock/dlock.h>
#include <pthread.h>
#include <stdatomic.h>

#include "chaos/desk.h"
#include "chaos/draw.h"
#include "chaos/worker.h"
#include "lab/resource.h"

struct chaos_name { /* a lock, and what it guards */
	const char *name;
	enum lab_mode mode;
	unsigned limit;
};

#define CHAOS_NAMES 7
extern const struct chaos_name chaos_names[CHAOS_NAMES];

struct chaos_bench { /* what the threads of a worker share */
	const struct chaos_job *job;
	struct chaos_page *page;
	struct lab_history *history;
	struct chaos_desk desk;
	struct lab_resource *guarded[CHAOS_NAMES];
	dlock_client *client;
	dlock_lock *shared[CHAOS_NAMES];
	atomic_bool stop;
};

struct chaos_hand { /* one thread */
	struct chaos_bench *b;
	struct chaos_draw draw;
	pthread_t thread;
	dlock_lock *own[CHAOS_NAMES];
	/* An endless wait that is to be cancelled then; 0: there is none. */
	pthread_mutex_t lock; /* for these two */
	dlock_lock *waits;
	int64_t cancel_at;
};

int chaos_make_handles(struct chaos_bench *b, dlock_lock *out[CHAOS_NAMES]);

void chaos_round(struct chaos_hand *me);

/* Cancel the wait of this hand if it is due, or if all are to end. */
void chaos_cancel(struct chaos_hand *h);

#endif
