/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of the core: ops, and the wait until each has ended.
 *
 * An op is sent again within the call, as often as the store certainly has not
 * carried the op out, and once when the connection is lost after a request.
 * When the server cannot be reached, ops that were not sent end.
 *
 * A thread need not wait for the call of an attempt or a release: the call goes
 * on by itself, and a later call of the core for the ticket finds the end.
 */
#ifndef DLOCK_CORE_LOOP_CALL_H
#define DLOCK_CORE_LOOP_CALL_H

#include <stdbool.h>
#include <sys/queue.h>

#include "core/loop/session.h"

/* An op, of a ticket or of the session.  The store fills in `base` and the
 * functions; any of them may be NULL. */
struct dlki_opcall_op {
	struct dlki_op base;
	struct dlki_session *session;
	bool anew;   /* it may be sent again after several requests, too */
	bool resent; /* an earlier request of the call may still reach the
		      * server */
	bool over;   /* it ends, and is not sent again */
	bool unreachable; /* ... because the server is: see the call's `why` */
	void (*ended)(struct dlki_opcall_op *op, dlk_time now); /* it has ended,
		     * and may be sent again; or could not be sent for want of
		     * memory */
	void (*again)(struct dlki_opcall_op *op); /* about to be sent */
	void (*told)(struct dlki_opcall_op *op);  /* over, and no call waits:
		     * the op may be gone then */

	struct dlki_opcall *call; /* the call, until the op has ended */
	struct dlki_opcall *own;  /* a call on the heap, which the core goes on
				   * with later; or NULL */
	LIST_ENTRY(dlki_opcall_op) in_ops;
};

struct dlki_opcall {
	struct dlki_session *session;
	dlk_time deadline;
	struct dlki_waiter waiter;
	LIST_HEAD(, dlki_opcall_op) ops; /* under way */
	int alone;               /* there is a single op */
	int too_early;           /* the try to connect began before the call,
				  * and may fail */
	int on_heap;             /* an op's own */
	struct dlk_session *told; /* no thread waits for the call, and the core
				  * is to hear of the end by this id; or NULL */
	uint64_t id;
	LIST_ENTRY(dlki_opcall) in_calls; /* the session's */

	/* Of an error in a new call, only the code is set. */
	struct dlk_error why;    /* the server could not be reached: by now
				  * another thread may have connected again */
	struct dlk_error failed; /* of the first op that failed, or got a last
				  * answer without sense; code 0: no error */
	struct dlk_error in_the_way; /* of a BUSY op; `code` 0: not set */
};

/* Prepare an idle op. */
void dlki_opcall_op_prepare(struct dlki_opcall_op *op, struct dlki_session *s,
			  enum dlki_verb verb, dlk_time deadline);

/* May the store have had a request of the op? */
int dlki_opcall_op_was_sent(const struct dlki_opcall_op *op);

/* Begin a call; locks the engine's mutex. */
void dlki_opcall_begin(struct dlki_opcall *call, struct dlki_session *s,
		     dlk_time deadline);

/* Submit a prepared op, and wait for it: dlki_opcall_await().  The op may be
 * under way already. */
void dlki_opcall_add(struct dlki_opcall *call, struct dlki_opcall_op *op);

/* Hurry, and wait until all ops have ended.  The mutex is released
 * meanwhile. */
void dlki_opcall_await(struct dlki_opcall *call);

/* All ops are added.  If the server is down, have the engine connect without
 * the pause before the next try. */
void dlki_opcall_hurry(struct dlki_opcall *call);

/* Wait until then, at most; DLK_FOREVER: as dlki_opcall_await().  1: all ops
 * have ended; 0: the call goes on. */
int dlki_opcall_await_until(struct dlki_opcall *call, dlk_time until);

/* Hurry, and leave the mutex to a later call of the core.  In a client without
 * threads the ops are sent soon, and dlk_go_on() tells the end with this id. */
void dlki_opcall_put_off(struct dlki_opcall *call, struct dlk_session *told,
			 uint64_t id);

/* Have the ops sent, and leave the mutex, for calls to other servers meanwhile;
 * and lock it again. */
void dlki_opcall_leave(struct dlki_opcall *call);
void dlki_opcall_resume(struct dlki_opcall *call);

/* Unlocks the mutex. */
void dlki_opcall_end(struct dlki_opcall *call);

/*
 * With the mutex locked: carry out a prepared op of the ticket.  Returns the
 * op's call, until dlki_opcall_done().  NULL, with the mutex unlocked: the
 * ticket's caller does not wait, and goes on later, by the same function.
 * `stack` is the caller's; the op may be there as well, unless `may_stay`.
 */
struct dlki_opcall *dlki_opcall_carry_out(struct dlki_opcall_op *op,
					  struct dlki_opcall *stack,
					  const struct dlk_ticket *t,
					  dlk_time deadline, int may_stay);

/* Unlocks the mutex. */
void dlki_opcall_done(struct dlki_opcall *call);

/* With the mutex locked: the core does not go on with the op's call. */
void dlki_opcall_forgo(struct dlki_opcall_op *op);

/* Prepare the op, submit, wait and unlock: 0 if it is ANSWERED, else see
 * err. */
int dlki_opcall_one(struct dlki_opcall_op *op, struct dlki_session *s,
		    enum dlki_verb verb, dlk_time deadline,
		    struct dlk_error *err);

/* Why an op of the call has failed: returns the code. */
int dlki_opcall_error(const struct dlki_opcall *call,
		    const struct dlki_opcall_op *op, struct dlk_error *err);

/* The server cannot be reached: end all ops of all calls. */
void dlki_opcalls_unreachable(struct dlki_session *s);

/* Give the ticket the lease of a granted or answered op. */
void dlki_opcall_lease(const struct dlki_opcall_op *op, struct dlk_ticket *t);

/* Return the result of a renewal; the ticket gets the lease.  DLK_UNKNOWN: err
 * says why, unless err was set before. */
enum dlk_renewal dlki_opcall_renewed(const struct dlki_opcall *call,
				     const struct dlki_opcall_op *op,
				     struct dlk_ticket *t,
				     struct dlk_error *err);

/* The server is reached, and answers at `answered` at the earliest: end the
 * attempts with too little time.  They would stay without an answer, and leave
 * claims behind. */
void dlki_opcalls_reached(struct dlki_session *s, dlk_time answered);

#endif
