/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of a trial (lab/scenarios/trial.h).  Each locks with a client of its
 * own in a process of its own, or in a thread where the store belongs to one
 * process.
 *
 * Once the trial has failed without the store's fault, these functions do
 * nothing, so that scenarios read straight on.
 */
#ifndef DLOCK_LAB_WORKER_H
#define DLOCK_LAB_WORKER_H

#include "lab/worker/order.h"

#include <pthread.h>
#include <sys/types.h>

struct lab_trial;

struct lab_worker {
	const char *label;
	struct lab_reply hello;
	/* The rest is for lab/scenarios/worker*.c. */
	struct lab_worker *next;
	struct lab_trial *trial;
	int fd;    /* -1 once the worker has gone */
	pid_t pid; /* 0 of a thread */
	pthread_t thread;
	int thread_fd; /* the worker's end */
	struct lab_reply reply; /* came while another reply was awaited */
	bool replied;
};

/* How to join. */
enum {
	LAB_JOIN_PROXIED = 1, /* through the fault proxy */
	LAB_JOIN_ALONE = 2,   /* in a process, whatever the store */
	LAB_JOIN_MAY_FAIL = 4 /* a failed open is an answer: see the hello */
};

/* The rc of a missing reply. */
#define LAB_NO_REPLY (-100)

/* `label` is static.  NULL: the trial has failed. */
struct lab_worker *lab_join(struct lab_trial *t, const char *label, int how);

/* ... with DLOCK_CAP_ bits required. */
struct lab_worker *lab_join_requiring(struct lab_trial *t, const char *label,
				     int how, uint32_t require);

/* Send an order; wait for the reply, at most `ms`: rc LAB_NO_REPLY without a
 * reply, which does not fail the trial; both. */
void lab_tell(struct lab_worker *p, const struct lab_order *e);
struct lab_reply lab_hear(struct lab_worker *p, int64_t ms);
struct lab_reply lab_do(struct lab_worker *p, const struct lab_order *e);

/* Whether the order is still under way.  Waits at most `ms` for the end. */
bool lab_busy(struct lab_worker *p, int64_t ms);

/* The usual orders, on the trial's lock. */
struct lab_reply lab_take(struct lab_worker *p, int64_t timeout_ms);
void lab_tell_take(struct lab_worker *p, int64_t timeout_ms);
struct lab_reply lab_give(struct lab_worker *p);

/* A side of the read-write lock, or a permit, of the trial's name. */
struct lab_reply lab_take_as(struct lab_worker *p, enum lab_mode mode,
			     uint32_t limit, int64_t timeout_ms);

/* LAB_DO_STATS, while an order may be under way. */
struct lab_reply lab_stats(struct lab_worker *p);

/* Wait until the worker waits in the store's queue, or is about to. */
void lab_await_waiting(struct lab_worker *p);

/* Written down in the history.  Not for threads. */
void lab_worker_kill(struct lab_worker *p);
void lab_worker_pause(struct lab_worker *p);
void lab_worker_resume(struct lab_worker *p);

/* Have the worker release, close and end; after 10 s the worker is killed. */
void lab_leave(struct lab_worker *p);

/* End all remaining workers; also of a failed trial.  Their labels are known
 * until lab_workers_free(). */
void lab_leave_all(struct lab_trial *t);
void lab_workers_free(struct lab_trial *t);

/* Return the label of the worker that acquires in thread `tid`; or NULL. */
const char *lab_worker_of(const struct lab_trial *t, uint32_t tid);

/* For lab/scenarios/worker*.c: start the worker, in a process or in a thread of
 * ours; the worker then waits for lab_hello. */
int lab_worker_start(struct lab_worker *p, bool process);

/* Wait for the end of a worker that was told to quit, or end it at once. */
void lab_worker_end(struct lab_worker *p, bool hurry);

/* Receive the next packet; false: no packet by then, or the worker is gone. */
bool lab_worker_receive(struct lab_worker *p, int64_t deadline,
			struct lab_reply *reply);

#endif
