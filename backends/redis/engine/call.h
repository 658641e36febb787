/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call of the core: a verb for one or more tickets, until each op has ended.
 *
 * An op is sent again within the call, as often as the store certainly has not
 * carried the op out, and once when the connection is lost after a request.
 * When the server cannot be reached, ops that were not sent end.
 */
#ifndef DLOCK_REDIS_ENGINE_CALL_H
#define DLOCK_REDIS_ENGINE_CALL_H

#include "backends/redis/engine/session.h"

struct redis2_call {
	struct redis2_session *session;
	enum dlki_verb verb;
	struct dlk_ticket *const *tickets;
	size_t n;
	dlk_time deadline;
	struct dlki_waiter waiter;
	size_t left;             /* ops under way */
	int over;                /* ops end, and are not sent again */
	int unreachable;         /* ... because the server is */
	struct dlk_error failed; /* the error of the first FAILED op */
	struct redis2_call *next, **link; /* of the session's calls */
};

/* Submit an op for each ticket, and wait until all ops have ended.  A release
 * under way is only waited for; a ticket that the server cannot know is left
 * out of releases.  The engine's mutex is held, and released meanwhile. */
void dlki_redis2_call(struct redis2_call *call, struct redis2_session *s,
		      enum dlki_verb verb, struct dlk_ticket *const tickets[],
		      size_t n, dlk_time deadline);

/* The ticket's op for the verb. */
struct redis2_op *dlki_redis2_op(struct redis2_ticket *t, enum dlki_verb verb);

/* Prepare a submission of the op. */
void dlki_redis2_op_prepare(struct redis2_op *op, struct redis2_ticket *t,
			    enum dlki_verb verb, dlk_time deadline);

/* May the store have had a request of the op? */
int dlki_redis2_op_was_sent(const struct redis2_op *op);

/* Why an op of the call has failed: returns the code. */
int dlki_redis2_call_error(const struct redis2_call *call,
			   const struct redis2_op *op, struct dlk_error *err);

/* The server cannot be reached: end all ops. */
void dlki_redis2_calls_unreachable(struct redis2_session *s);

#endif
