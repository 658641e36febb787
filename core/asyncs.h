/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The asynchronous calls of a client: the calls to run, the times of the
 * sleeping calls, and the calls that are over.
 */
#ifndef DLOCK_CORE_ASYNCS_H
#define DLOCK_CORE_ASYNCS_H

#include <dlock/backend.h>
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
	struct dlki_async_queue asking;   /* ASKING, in the order of the
					   * requests */
	size_t n_asking;
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
	dlk_time running_since;    /* the async job runs a call; 0: none */
	const struct dlki_record *running_for; /* an acquire of this lock ... */
	uint64_t running_turn;                 /* ... with this turn; or NULL */
	int asks;                  /* the call is a question, which may take
				    * long */
	int awake;                 /* the job looks for a call to run */
	struct dlki_job job;       /* runs the calls: async_job.h */
};

/* With the client's mu held: there is a call to run, or to wait for. */
static inline void dlki_asyncs_rouse(struct dlki_asyncs *all)
{
	if (!all->awake)
		dlki_job_post(&all->job);
	all->awake = 1;
}

/* The same: is no call READY? */
static inline int dlki_asyncs_are_idle(const struct dlki_asyncs *all)
{
	return TAILQ_EMPTY(&all->releases) && TAILQ_EMPTY(&all->woken) &&
	       TAILQ_EMPTY(&all->acquires);
}

/* The same: releases that were passed over may go on. */
static inline void dlki_asyncs_rouse_releases(struct dlki_asyncs *all)
{
	if (!TAILQ_EMPTY(&all->releases))
		dlki_asyncs_rouse(all);
}

#endif
