/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis: and rediss: (TLS): locks on a Redis or Valkey server.
 *
 * A session has an engine with the Redis protocol.  A call of the core submits
 * ops, and runs the loop until they have ended.  News are pumped: the core's
 * parked waiter polls the descriptor of the NEWS set.
 *
 * Here are the session and the ticket.  The verbs are in the files of their
 * names; core/loop/call.h carries a verb out, waiters.h finds tickets for news.
 *
 * LOCKS
 *  The engine's mutex protects all that is not constant.  While it is held, a
 *  service of the core may be called, but dlk_listen().
 */
#ifndef DLOCK_REDIS_H
#define DLOCK_REDIS_H

#include <sys/queue.h>

#include "core/base/blocks.h"
#include "core/loop/call.h"
#include "core/loop/verbs.h"

struct redis_ticket;

LIST_HEAD(redis_bucket, redis_ticket);

/* An op of a ticket, from the preparation until the caller has read the
 * outcome: on the stack of the caller, or a block of the session's. */
struct redis_op {
	struct dlki_opcall_op call;
	struct redis_ticket *ticket;
	bool in_block;
	bool was_granted; /* RELEASE: the ticket was granted */
};

struct redis_ticket {
	struct dlk_ticket base;
	struct redis_op *ask, *rel; /* or NULL; ask: all verbs but RELEASE */
	bool asked;                /* the server may know the claim */
	bool granted;              /* the server said so; not released since */
	bool by_push;              /* ... by a grant message */
	bool watched;              /* the server tells of other requests */
	dlk_time lease_from;       /* see struct dlki_op */
	dlk_time lease_heard;

	/* See waiters.h. */
	LIST_ENTRY(redis_ticket) in_waiters, in_watchers; /* le_prev NULL: not
					* there */
	uint64_t attempt;          /* the number of the last */
	dlk_time sent;             /* the time of that write; 0: never */
	uint64_t busy_clock_us;    /* the server's clock at BUSY, or 0 */
	struct {
		uint64_t token;    /* of the grant message, or 0 */
		uint64_t clock_us; /* the server's, at the grant, or 0 */
		int64_t lease_ms;
	} pushed;
};

enum { RD_BUCKETS = 512 };

struct redis_session {
	struct dlki_remote remote;
	struct dlki_session loop;

	pthread_mutex_t listen_mu; /* around dlk_listen(); never with another */
	int listens;               /* under listen_mu */

	/* Under the engine's mutex. */
	unsigned int unheard;        /* outages of the ear since it was up */
	struct dlki_blocks ops;
	struct dlki_opcall renewals; /* under way if `renews` */
	bool renews;
	uint64_t attempts;           /* so far */
	struct redis_bucket waiters[RD_BUCKETS];  /* by attempt */
	struct redis_bucket watchers[RD_BUCKETS]; /* by owner */
};

static inline struct redis_session *dlki_redis_session(struct dlk_session *s)
{
	return (struct redis_session *)s;
}

/* ---- The ops of a ticket: ops.c ------------------------------------------ */

/* The rest with the engine's mutex held. */

/* Return the ticket's op for the verb, prepared in a block unless the op is
 * begun or under way.  NULL: no memory. */
struct redis_op *dlki_redis_prepare(struct redis_ticket *t, enum dlki_verb verb,
				    dlk_time deadline);

/* End the use of an op that is not under way; or of NULL. */
void dlki_redis_put(struct redis_op *op);

/* What a verb of a ticket needs on the stack of the caller. */
struct redis_call {
	struct dlki_opcall *call; /* out: the op's */
	struct redis_op op;
	struct dlki_opcall own;
};

/* Lock the mutex, and carry out a verb for the ticket's claim, to the end.
 * Returns the op, until dlki_redis_done().  NULL, without the mutex: the
 * ticket's caller does not wait. */
struct redis_op *dlki_redis_call(struct redis_call *c, struct redis_ticket *t,
				 enum dlki_verb verb, dlk_time deadline);

/* End the use of the op, and unlock the mutex. */
void dlki_redis_done(const struct redis_call *c, struct redis_op *op);

/* The core does not go on with the op, which may be NULL. */
void dlki_redis_forgo(struct redis_op *op);

/* ---- The verbs ----------------------------------------------------------- */

DLKI_VERB(attempt) dlki_redis_attempt;
DLKI_VERB(renew) dlki_redis_renew;
DLKI_VERB(release) dlki_redis_release;
DLKI_VERB(release_begin) dlki_redis_release_begin;
DLKI_VERB(release_all) dlki_redis_release_all;
DLKI_VERB(downgrade) dlki_redis_downgrade;
DLKI_VERB(watch_wanted) dlki_redis_watch_wanted;
DLKI_VERB(list) dlki_redis_list;

/* ---- News: news.c -------------------------------------------------------- */

extern const struct dlki_news dlki_redis_news;

/* Have the core poll the news, from the first wait on. */
void dlki_redis_listen(struct redis_session *s);

DLKI_VERB(pump) dlki_redis_pump;

#endif
