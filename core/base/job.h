/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The common threads that run jobs, for all clients of the process: piece by
 * piece, one piece of a job at a time, in the order of posting.
 *
 * "dlock-work" renews and cleans up, "dlock-async" runs asynchronous calls;
 * both wait for stores.  One thread each is enough as long as the stores
 * answer.  When a job has waited for 10 ms, because another job's store does
 * not answer, one more thread begins, and ends when no job waits.  So a stuck
 * store delays no other.
 *
 * "dlock-deliver" calls programs back.  A callback that does not return delays
 * only callbacks, of all clients.
 *
 * A job of a client without threads is a source of the client's own attendant,
 * due at once when posted.
 */
#ifndef DLOCK_CORE_BASE_JOB_H
#define DLOCK_CORE_BASE_JOB_H

#include <dlock/backend.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "core/base/source.h"

struct dlki_workers;

/* All zero but for the function and the thread: the job has not joined. */
struct dlki_job {
	/* Run a piece, with no lock held.  Returns whether there is another
	 * piece: the job then has another turn, behind the jobs that wait. */
	int (*run)(struct dlki_job *job);

	enum dlki_job_thread { DLKI_WORK, DLKI_ASYNC, DLKI_DELIVER } thread;
	struct dlki_workers *_Atomic by; /* NULL: the job has not joined */
	TAILQ_ENTRY(dlki_job) in_queue;  /* the rest: under a common mutex */
	int posted;                      /* the job waits, or is to run again */
	dlk_time posted_at;              /* ... since then */
	int running;
	dlk_time at;                     /* post the job then */

	struct dlki_source source; /* looks after the job then, and while the
				    * job waits; of an own attendant: runs the
				    * job.  Locks itself */
};

/* Have `own`, or if that is NULL, a thread run the job, unless the job has
 * joined: 0, or an errno value. */
int dlki_job_join(struct dlki_job *job, struct dlki_attendant *own);

/* Let a joined job run; any lock may be held. */
void dlki_job_post(struct dlki_job *job);

/* Let the job run at `at`, and not at the time set before; DLK_FOREVER: at no
 * time.  Not for a job of dlock-deliver.  Any lock may be held. */
void dlki_job_at(struct dlki_job *job, dlk_time at);

/* End the job: waits until a running piece has returned.  On the thread itself,
 * in a piece of another job, there is no wait.  Accepts a job that has not
 * joined. */
void dlki_job_leave(struct dlki_job *job);

#endif
