/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of the core: ops, and the wait until each has ended.
 *
 * An op is sent again within the call, as often as the store certainly has not
 * carried the op out, and once when the connection is lost after a request.
 * When the server cannot be reached, ops that were not sent end.
 */
#ifndef DLOCK_REDIS_CALL_H
#define DLOCK_REDIS_CALL_H

#include "backends/redis/redis.h"

struct redis_call {
	struct redis_session *session;
	dlk_time deadline;
	struct dlki_waiter waiter;
	struct redis_op *ops;   /* under way */
	int alone;               /* there is a single op */
	int too_early;           /* the try to connect began before the call,
				  * and may fail */
	int over;                /* ops end, and are not sent again */
	int unreachable;         /* ... because the server is */
	struct dlk_error failed; /* of the first op that has failed, or whose
				  * last answer makes no sense; code 0: none */
	struct redis_call *next, **link; /* of the session's calls */
};

/* Begin a call; locks the engine's mutex. */
void dlki_redis_call_begin(struct redis_call *call, struct redis_session *s,
			   dlk_time deadline);

/* Prepare an op that is idle; `t` may be NULL. */
void dlki_redis_op_prepare(struct redis_op *op, struct redis_session *s,
			   struct redis_ticket *t, enum dlki_verb verb,
			   dlk_time deadline);

/* Submit a prepared op, and wait for it: dlki_redis_call_await().  The op may
 * be under way already. */
void dlki_redis_call_add(struct redis_call *call, struct redis_op *op);

/* Wait until all ops have ended.  The mutex is released meanwhile. */
void dlki_redis_call_await(struct redis_call *call);

/* Unlocks the mutex. */
void dlki_redis_call_end(struct redis_call *call);

/* All of it for the op of a ticket, without the end; or for an op of the
 * session: 0 if it is ANSWERED, else see err. */
void dlki_redis_call_ticket(struct redis_call *call, struct redis_ticket *t,
			    enum dlki_verb verb, dlk_time deadline);
int dlki_redis_call_session(struct redis_session *s, struct redis_op *op,
			    dlk_time deadline, struct dlk_error *err);

/* May the store have had a request of the op? */
int dlki_redis_op_was_sent(const struct redis_op *op);

/* Why an op of the call has failed: returns the code. */
int dlki_redis_call_error(const struct redis_call *call,
			  const struct redis_op *op, struct dlk_error *err);

/* The server cannot be reached: end all ops. */
void dlki_redis_calls_unreachable(struct redis_session *s);

/* The server is reached, and answers at `answered` at the earliest: end the
 * attempts that have no time for that.  They would stay without an answer, and
 * leave claims behind. */
void dlki_redis_calls_spare(struct redis_session *s, dlk_time answered);

#endif
