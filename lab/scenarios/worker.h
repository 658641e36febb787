/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of a trial (lab/scenarios/trial.h).  Each locks with a client of its
 * own in a process of its own, or in a thread where the store belongs to one
 * process.
 *
 * Once something in the trial has failed for reasons that are no store's fault,
 * these functions do nothing, so that scenarios read straight on.
 */
#ifndef DLOCK_LAB_WORKER_H
#define DLOCK_LAB_WORKER_H

#include "lab/worker/order.h"

struct lab_worker;
struct lab_trial;

/* How to join. */
enum {
	LAB_JOIN_PROXIED = 1, /* through the fault proxy */
	LAB_JOIN_ALONE = 2,   /* in a process, whatever the store */
	LAB_JOIN_MAY_FAIL = 4 /* a store that cannot be opened is an answer: see
			       * lab_worker_hello() */
};

/* The rc of a reply that did not come. */
#define LAB_NO_REPLY (-100)

/* `label` is static.  NULL: the trial has failed. */
struct lab_worker *lab_join(struct lab_trial *t, const char *label, int how);

/* ... with DLOCK_CAP_ bits required. */
struct lab_worker *lab_join_requiring(struct lab_trial *t, const char *label,
				     int how, uint32_t require);

const struct lab_reply *lab_worker_hello(const struct lab_worker *p);
const char *lab_worker_label(const struct lab_worker *p);

/* Send an order; wait for its reply, at most `ms`: rc LAB_NO_REPLY if it does
 * not come, which does not fail the trial; both. */
void lab_tell(struct lab_worker *p, const struct lab_order *e);
struct lab_reply lab_hear(struct lab_worker *p, int64_t ms);
struct lab_reply lab_do(struct lab_worker *p, const struct lab_order *e);

/* Is the order under way still?  Waits at most `ms` for its end. */
bool lab_busy(struct lab_worker *p, int64_t ms);

/* The usual orders, on the trial's lock. */
struct lab_reply lab_take(struct lab_worker *p, int64_t timeout_ms);
void lab_tell_take(struct lab_worker *p, int64_t timeout_ms);
struct lab_reply lab_give(struct lab_worker *p);

/* A side of the read-write lock, or a permit, of the trial's name. */
struct lab_reply lab_take_as(struct lab_worker *p, enum lab_mode mode,
			     uint32_t limit, int64_t timeout_ms);

/* A verb after LAB_SIDE, while an order may be under way. */
struct lab_reply lab_beside(struct lab_worker *p, enum lab_verb verb);

/* Wait until it waits in the store's queue, or is about to. */
void lab_await_waiting(struct lab_worker *p);

/* Written down in the history.  Not for threads. */
void lab_worker_kill(struct lab_worker *p);
void lab_worker_pause(struct lab_worker *p);
void lab_worker_resume(struct lab_worker *p);

/* It releases, closes and ends; one that does not within 10 s is killed. */
void lab_leave(struct lab_worker *p);

/* All that are left; also of a trial that has failed.  Their labels are known
 * until lab_workers_free(). */
void lab_leave_all(struct lab_trial *t);
void lab_workers_free(struct lab_trial *t);

/* The label of the worker that acquires in this thread; NULL: of none. */
const char *lab_worker_of(const struct lab_trial *t, uint32_t tid);

#endif
