/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asynchronous calls of a client: the calls to run, the times of the
 * sleeping calls, and the calls that are over.
 */
#ifndef DLOCK_CORE_ASYNCS_H
#define DLOCK_CORE_ASYNCS_H

#include <dlock/backend.h>
#include <pthread.h>
#include <sys/queue.h>

#include "core/base/due.h"
#include "core/base/heap.h"
#include "core/base/job.h"
#include "core/base/slots.h"

struct dlki_async;

TAILQ_HEAD(dlki_async_queue, dlki_async);

struct dlki_asyncs {
	struct dlki_due due;       /* locks itself */

	/* Under the client's mu. */
	unsigned int waits;        /* threads in dlock_wait() */
	struct dlki_async_queue releases; /* READY; they go first */
	struct dlki_async_queue woken;    /* READY; they overtake acquires */
	struct dlki_async_queue acquires; /* READY */
	struct dlki_async_queue paused;   /* PARKED until a time; not asleep */
	unsigned int overtakes;    /* since the last of the acquires */
	struct dlki_async_queue over;     /* their callbacks are due */
	size_t n_over;
	size_t pending;            /* callbacks to come */
	int processing;            /* a thread calls back in dlock_process() */
	int refused;               /* ... and another call was refused */
	unsigned int attending;    /* threads there, in a client without
				    * threads */
	unsigned int turn;         /* of the processing there */
	int ended;                 /* a thread is to finish the close, and no
				    * other thread waits any more */
	struct dlki_slots slots;   /* by number, until the callback begins */
	struct dlki_heap next;     /* PARKED, by the time of their next run */
	struct dlki_heap end;      /* not OVER, by the time they are overdue */
	size_t n;                  /* not OVER */
	dlk_time running_since;    /* the async thread runs a call; 0: none */
	int asks;                  /* the call is a question, which may take
				    * long */
	enum {
		DLKI_THREAD_NONE,
		DLKI_THREAD_STARTS,
		DLKI_THREAD_RUNS,
		DLKI_THREAD_ATTENDS /* there is `job` instead */
	} thread_is;
	int idle;                  /* the async thread sleeps */
	int stop;
	pthread_cond_t ready;      /* the async thread sleeps here */
	pthread_t thread;
	struct dlki_job job;       /* in a client without threads: locks
				    * itself */
};

/* With the client's mu held: the async thread has a call to run, or to wait
 * for. */
static inline void dlki_asyncs_rouse(struct dlki_asyncs *all)
{
	if (all->idle)
		pthread_cond_signal(&all->ready);
	else if (all->thread_is == DLKI_THREAD_ATTENDS)
		dlki_job_post(&all->job);
}

/* The same: the async thread has passed over releases, and may go on with
 * them. */
static inline void dlki_asyncs_rouse_releases(struct dlki_asyncs *all)
{
	if (!TAILQ_EMPTY(&all->releases))
		dlki_asyncs_rouse(all);
}

#endif
