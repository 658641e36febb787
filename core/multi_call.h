/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous calls for multi-locks.  Such a call has parts: asynchronous
 * calls for single members, each of the member's client.  No thread waits for a
 * part; the thread that ends a part begins the next.
 *
 *   acquire   a step waits for the first member, then a step tries each other
 *             member, as core/multi_acquire.c does.  After a failed try a part
 *             for each member gives the member back, and then a step waits for
 *             the busy member, or the call ends.
 *   release   a part for each member, all at once
 *
 * The call itself is an operation of the client of the member that the program
 * named first.  It counts as a call of all the members' clients, so no client
 * goes before the call's end.
 */
#ifndef DLOCK_CORE_MULTI_CALL_H
#define DLOCK_CORE_MULTI_CALL_H

#include "core/async.h"
#include "core/multi.h"
#include "core/multi_hold.h"
#include "core/multi_twice.h"

struct dlki_multi_call {
	/* Constant. */
	struct dlki_async *op;         /* the program's operation */
	dlock_lock *lock;              /* NULL: a release */
	struct dlki_multi_wait *waits; /* of an acquire, for each client */

	struct dlki_multi_hold *m;     /* NULL: the program has the hold */
	struct dlki_wait wait;         /* the program's */

	/* The progress of an acquire.  A single thread at a time works on
	 * it. */
	size_t first;                  /* member waited for */
	size_t next;                   /* member of the step */
	int final;                     /* there is no other try */
	struct dlki_backoff pauses;
	struct dlki_multi_twice twice;

	/* Under the mu of op->client. */
	size_t left;                   /* parts that release */
	int rc;                        /* the end, unless it goes on */
	struct dlk_error err;
	unsigned int pins;             /* threads rousing the step */
	int ending;                    /* no other thread begins to */

	_Atomic(struct dlock_client *) at; /* the step's client; changed with
					    * the client's mu held */
	struct dlki_async part[];      /* for each member; the first is also
					* the step of an acquire */
};

/* Without mu.  Begin to acquire `lock` as `op`; 0 and `*number`.  After an
 * error the call has not begun. */
int dlki_multi_call_acquire(struct dlki_async *op, dlock_lock *lock,
			    int64_t timeout_ms, dlock_op *number,
			    struct dlk_error *err);

/* Without mu.  Begin to release `hold` as `op`; after an error the hold
 * stands. */
int dlki_multi_call_release(struct dlki_async *op, dlock_hold *hold,
			    struct dlk_error *err);

/* With the mu of op->client held, which is released meanwhile: the call was
 * cancelled. */
void dlki_multi_call_rouse(struct dlki_multi_call *call);

extern const struct dlki_async_whole dlki_multi_call_whole;

/* ---- Parts: multi_parts.c ------------------------------------------------ */

/* Each releases a member, or hands the member's hold out. */

/* A call with `n` parts, which is `op` then; NULL: no memory. */
struct dlki_multi_call *dlki_multi_call_new(struct dlki_async *op, size_t n);

/* Without mu: enter the program's operation, and set `*number` unless NULL.  Of
 * a release of an upgradeable hold the first part has begun afterwards; EINVAL:
 * it is refused. */
int dlki_multi_parts_enter(struct dlki_multi_call *call, dlock_op *number,
			   struct dlk_error *err);

/* Without mu: begin to release all members of an acquire.  The last release
 * goes on with the call, which may end before this function returns. */
void dlki_multi_parts_give_back(struct dlki_multi_call *call);

/* Without mu: a member was released, or the release failed.  Were all? */
int dlki_multi_parts_released(struct dlki_multi_call *call, int rc,
			      const struct dlk_error *err);

/* Without mu.  The callback of a granted acquire begins; has returned, and the
 * call is freed. */
void dlki_multi_parts_hand_out(struct dlki_multi_call *call,
			      const dlock_hold *hold);
void dlki_multi_parts_handed_out(struct dlki_multi_call *call);

#endif
