/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis store on the engine, behind dlock/backend.h: the schemes redis2 and
 * redis2+unix, which tests alone register.
 *
 * A session has an engine with the Redis protocol, and a loop thread.  A call
 * of the core submits ops, and runs the loop until they have ended.  News are
 * pumped: the core's parked waiter polls the descriptor of the NEWS set.
 *
 * Here are the session and the ticket.  The verbs are in the files of their
 * names; call.h carries a verb out, waiters.h finds tickets for news.
 *
 * LOCKS
 *  The engine's mutex protects all that is not constant.  While it is held, a
 *  service of the core may be called, but dlk_listen().
 */
#ifndef DLOCK_REDIS_ENGINE_SESSION_H
#define DLOCK_REDIS_ENGINE_SESSION_H

#include <dlock/backend_net.h>

#include "core/loop/drive.h"

struct redis2_call;
struct redis2_ticket;

/* An op of a ticket. */
struct redis2_op {
	struct dlki_op base;
	struct redis2_ticket *ticket;
	struct redis2_call *call; /* that waits for the op, or NULL */
	int resent;               /* an earlier request of the call may still
				   * reach the server */
	int granted;              /* RELEASE: the store had granted the claim */
};

struct redis2_ticket {
	struct dlk_ticket base;
	struct redis2_op ask, rel; /* attempt or renewal; release */
	int asked;                 /* the server may know of it */
	int granted;               /* the server said so; not released since */

	/* See waiters.h. */
	struct redis2_ticket *next, **link; /* if listed */
	uint64_t attempt;          /* the number of the last; 0: not listed */
	dlk_time sent;             /* when that was written; 0: never */
	uint64_t busy_clock_us;    /* the server's clock at BUSY, or 0 */
	struct {
		uint64_t token;    /* of the grant message, or 0 */
		uint64_t clock_us; /* the server's, when it was granted, or 0 */
		int64_t lease_ms;
	} pushed;
};

enum { RD2_BUCKETS = 512 };

struct redis2_session {
	struct dlk_session base;

	/* Constant once opened. */
	struct dlki_world *world;
	struct dlki_engine *engine;
	char server[112]; /* for messages: "redis.example:6379" */

	pthread_mutex_t listen_mu; /* around dlk_listen(); never with another */
	int listens;               /* under listen_mu */

	/* Under the engine's mutex. */
	struct dlki_waiter *opening; /* open()'s, until the greeting is over */
	struct redis2_call *calls;   /* under way */
	uint64_t attempts;           /* so far */
	struct redis2_ticket *waiters[RD2_BUCKETS];
};

/* The core never calls a backend in a forked child. */
static inline void dlki_redis2_lock(const struct redis2_session *s)
{
	(void)dlki_lock(s->engine);
}

static inline void dlki_redis2_unlock(const struct redis2_session *s)
{
	dlki_unlock(s->engine);
}

/* ---- The verbs ----------------------------------------------------------- */

enum dlk_verdict dlki_redis2_attempt(struct dlk_ticket *base, dlk_time deadline,
				     struct dlk_error *err);
void dlki_redis2_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		       enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		       struct dlk_error *err);
int dlki_redis2_release(struct dlk_ticket *base, dlk_time deadline,
			struct dlk_error *err);
int dlki_redis2_release_begin(struct dlk_ticket *base, dlk_time deadline,
			      struct dlk_error *err);
void dlki_redis2_release_all(struct dlk_session *base,
			     struct dlk_ticket *const t[], size_t n,
			     dlk_time deadline);

/* ---- News: news.c -------------------------------------------------------- */

extern const struct dlki_news dlki_redis2_news;

/* Have the core poll the news, from the first wait on. */
void dlki_redis2_listen(struct redis2_session *s);
void dlki_redis2_listen_no_more(struct redis2_session *s);

/* The backend's pump. */
void dlki_redis2_pump(struct dlk_session *base);

#endif
