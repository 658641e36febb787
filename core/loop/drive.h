/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driving: which thread runs the loop.
 *
 * A thread waiting for an op runs turns in ANSWERS itself, so the answer wakes
 * the thread straight from the kernel.  At most one thread at a time leads;
 * other waiters follow: they sleep on a condition of their own.  A leader, done
 * or late, names the oldest follower as successor before dlki_drive() returns,
 * so no callback of a program delays the others.
 *
 * The process's thread, "dlock-loop" (base/source.h), leads while there is no
 * waiter.  A leaving leader does not wake the thread: while callers come and
 * go, dlock-loop looks every 10 ms, and takes over when no waiter has led
 * since.  dlock-loop does not wait in the set, but polls the set's descriptor
 * with the descriptors of all other engines; the next leading waiter switches
 * the descriptor off there.  An answer without a waiter may thus lie for 10 ms,
 * unless dlki_drive_start() told.
 *
 * NEWS is pumped: a thread polls the set's descriptor, and calls
 * dlki_drive_pump() when it is readable.  In a client without threads no other
 * thread may do so: a leading waiter runs turns in both sets.
 *
 * A follower at the deadline rings due alarms itself: a stopped leader delays
 * no time-out.
 *
 * A cancel of a waiter's call brings the waiter's deadline forward, and
 * dlki_drive_rouse() has the waiter look again.
 *
 * A sleeping thread has a condition of the drive, which outlives the waiter.  A
 * thread that ends a wait marks the condition as due, and dlki_unlock() signals
 * it behind the mutex: the woken thread finds the mutex free.
 *
 * LOCKS
 *  All state is under the engine's mutex: role, predicate, and which conditions
 *  are due.  A kick is only for the leader in wait(); dlki_turn() marks it.
 *
 * Cancellation is off in dlki_drive().  In a forked child dlki_lock() refuses.
 */
#ifndef DLOCK_CORE_LOOP_DRIVE_H
#define DLOCK_CORE_LOOP_DRIVE_H

#include <sys/queue.h>

#include "core/loop/engine.h"

struct dlki_attendant;

/* On the stack of the waiting thread. */
struct dlki_waiter {
	int done;                         /* by dlki_waiter_done() */
	int idle;                         /* awaits no answer */
	int pumps;                        /* awaits a turn of the leader */
	const struct dlki_patience *patience; /* of the waiting thread */
	int asleep;                       /* on this condition of the drive */
	unsigned int cond;
	TAILQ_ENTRY(dlki_waiter) in_all;  /* the oldest first */
};

/* Have `own`, or if that is NULL, dlock-loop lead when no waiter does.  0, or
 * see err. */
int dlki_drive_begin(struct dlki_engine *e, struct dlki_attendant *own,
		     struct dlk_error *err);

/* dlock-loop leads no more.  No waiter is left.  Before dlki_engine_free(). */
void dlki_drive_end(struct dlki_engine *e);

/* ---- With mu held -------------------------------------------------------- */

void dlki_waiter_init(struct dlki_waiter *w);

/* The waiter's wait is over: called by done(), by news, or by a
 * cancelling thread.  From any thread. */
void dlki_waiter_done(struct dlki_engine *e, struct dlki_waiter *w);

/*
 * Push, and wait until the waiter is done or dlk_deadline(deadline): lead or
 * follow.  mu is released meanwhile.  1: done; 0: the deadline came first.  A
 * waiter may be used again after `done` was cleared.
 */
int dlki_drive(struct dlki_engine *e, struct dlki_waiter *w,
	       dlk_time deadline);

/* Wait until then, or until the thread's call is cancelled. */
void dlki_drive_sleep(struct dlki_engine *e, dlk_time until);

/* Push, and have a thread lead at once: for ops without a waiter. */
void dlki_drive_start(struct dlki_engine *e);

/* Have dlock-loop push and lead soon, for further ops to share the write. */
void dlki_drive_soon(struct dlki_engine *e);

/* Run a turn of NEWS, without waiting.  Work left over by the turn makes the
 * set's descriptor readable again.  One thread at a time. */
void dlki_drive_pump(struct dlki_engine *e);

/* ---- Without mu ---------------------------------------------------------- */

/* Have the waiters look at their deadlines whose calls were cancelled. */
void dlki_drive_rouse(struct dlki_engine *e);

#endif
