/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "dlock-work", the threads that wait for stores, for all clients of the
 * process.  What they do is a job, which runs piece by piece, one piece at a
 * time.
 *
 * There is one such thread as long as the stores answer.  When a job has waited
 * for 10 ms, because another's store does not answer, one more thread begins,
 * which ends when no job waits.  So a store that is stuck delays no other.
 */
#ifndef DLOCK_CORE_BASE_JOB_H
#define DLOCK_CORE_BASE_JOB_H

#include <dlock/backend.h>
#include <stdatomic.h>

#define DLKI_JOB_STUCK_NS (10 * DLK_MS)

struct dlki_workers;

/* All zero but for the function: it has not joined. */
struct dlki_job {
	/* A piece, with no lock held.  Returns whether there is another: the
	 * job has its turn again, behind those that wait. */
	int (*run)(struct dlki_job *job);

	struct dlki_workers *_Atomic by; /* NULL: it has not joined */
	struct dlki_job *next;           /* the rest: under their mutex */
	int posted;                      /* it waits, or is to run again */
	dlk_time posted_at;              /* it waits since then */
	int running;
};

/* Have a thread for the job: 0, or an errno value. */
int dlki_job_join(struct dlki_job *job);

/* It is to run.  With any lock held; once it has joined.  Returns whether all
 * threads are busy: post it again after DLKI_JOB_STUCK_NS, and it gets another
 * one unless it has begun. */
int dlki_job_post(struct dlki_job *job);

/* It runs no more: waits until a piece that runs has returned.  Nothing is done
 * if it has not joined. */
void dlki_job_leave(struct dlki_job *job);

#endif
