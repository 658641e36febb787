/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis: locks on a Redis or Valkey server.  Each verb is a script there.
 *
 * A claim is a key that expires.  Only the scripts under scripts/ touch it;
 * docs/redis.md describes it.  The server has a wait queue for each lock.  A
 * release grants the lock to the next waiter there and publishes the grant on
 * the notification channel of that waiter's client.
 *
 * Here are the session, the ticket, and the verbs.  Their parts are declared in
 * conn.h, script.h, notify.h, subscribe.h, waiters.h and ticket.h.
 */
#ifndef DLOCK_REDIS_H
#define DLOCK_REDIS_H

#include <dlock/backend_net.h>
#include <pthread.h>

#include "backends/redis/args.h"
#include "backends/redis/subscribe.h"

struct redis_conn;

/* ---- The ticket ---------------------------------------------------------- */

struct redis_ticket {
	struct dlk_ticket base;
	size_t key_len;       /* 0: key is not filled in yet */
	char key[RD_KEY_SIZE];
	int asked;            /* the server may know of it */
	int granted;          /* the server said so; not released since */
	int pushed;           /* ... by a grant message */
	int owed;             /* the answer to its release */
	int listed;           /* among the session's waiters */
	int watched;          /* ... because other sessions may ask for it */
	dlk_time lease_from;  /* when what set the lease was sent; 0: unknown */
	dlk_time lease_heard; /* when its reply came */

	/* Under the session's mu. */
	struct redis_ticket *next, **link; /* if listed */
	uint64_t attempt;                  /* number of the last attempt */
	dlk_time attempt_sent;
	uint64_t granted_token; /* from that attempt's grant message; or 0 */
};

/* ---- The session --------------------------------------------------------- */

/* Of the connection that listens to the notification channel. */
enum redis_notify_state {
	RD_NOTIFY_NONE,    /* not needed so far */
	RD_NOTIFY_OPENING,
	RD_NOTIFY_UP,
	RD_NOTIFY_DOWN     /* to be opened again */
};

enum { RD_BUCKETS = 512 };

struct redis_session {
	struct dlk_session base;

	/* Constant once opened. */
	struct dlk_server *server;
	struct dlk_pool *pool;
	char order;           /* 'f'air or 'a'ny */
	int plain;            /* key=plain */
	uint32_t db;
	char ttl[24];         /* the lease in ms, as digits */
	size_t ttl_len;
	size_t label_len;     /* bytes of the label that are stored */
	char channel[120];    /* our notification channel */
	char clock[80];       /* prefix:clock, see scripts/common.lua */
	size_t clock_len;
	int64_t step_ms;      /* limit for opening the notification channel */

	dlk_time warned;      /* of the server's clock; the renewing thread's */

	/* The server has the script, as far as known.  The answer to a release
	 * that is only sent comes too late to send the text behind it. */
	dlk_flag knows_release;

	/*
	 * mu protects what follows, and the tickets' part above.  While it is
	 * held, nothing is called but the core's services.
	 */
	pthread_mutex_t mu;
	pthread_cond_t changed;
	enum redis_notify_state state;
	struct redis_subscriber subscriber;
	int64_t pause_ms;        /* before the next try to open the channel */
	dlk_flag stop;           /* set under mu; read while connecting */
	struct redis_conn *conn; /* to the channel, while state is UP; only the
				  * pump uses it and takes it away */
	int set_fd, timer_fd;    /* see notify.h; made with the first wait, and
				  * constant from then on */
	struct redis_ticket *waiters[RD_BUCKETS]; /* see waiters.h */

	/* The pump's while state is UP; else the subscriber's. */
	dlk_time heard;          /* when the server was heard on the channel */
	int asked;               /* with a PING since */
	int told;                /* that the channel is down: so often */
};

/* ---- The verbs: redis.c, attempt.c, renew.c, release.c, inspect.c -------- */

enum dlk_verdict dlki_redis_attempt(struct dlk_ticket *base, dlk_time deadline,
				    struct dlk_error *err);

void dlki_redis_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		      struct dlk_error *err);

int dlki_redis_release(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err);
int dlki_redis_release_begin(struct dlk_ticket *base, dlk_time deadline,
			     struct dlk_error *err);
void dlki_redis_release_all(struct dlk_session *base,
			    struct dlk_ticket *const t[], size_t n,
			    dlk_time deadline);
int dlki_redis_watch_wanted(struct dlk_ticket *t, dlk_time deadline,
			    struct dlk_error *err);
int dlki_redis_revoke(struct dlk_session *s, const struct dlk_request *request,
		      dlk_time deadline, struct dlk_error *err);
int dlki_redis_downgrade(struct dlk_ticket *base, dlk_time deadline,
			 struct dlk_error *err);

int dlki_redis_inspect(struct dlk_session *base,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_redis_list(struct dlk_session *base,
		    void (*each)(const struct dlock_lock_info *info, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_redis_break(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err);

/* Ask the server, when the session opens, what INFO says of it: ENOTSUP if it
 * is too old, and warnings of what makes it lose locks.  info.c. */
int dlki_redis_check_server(struct redis_session *s, dlk_time deadline,
			    struct dlk_error *err);

#endif
