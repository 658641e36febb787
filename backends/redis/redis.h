/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis: locks on a Redis or Valkey server, each verb a script there.
 *
 * A claim is a key that expires; the scripts under lua/ are the only ones that
 * touch it, and docs/redis.md says what it looks like.  A waiter stands in a
 * line on the server; a release grants to the next one there and tells its
 * client, over one connection a client (the inbox), which claim was granted.
 */
#ifndef DLOCK_REDIS_H
#define DLOCK_REDIS_H

#include <dlock/backend.h>

#include "backends/redis/out.h"
#include "backends/redis/reply.h"
#include "core/net.h"
#include "core/pool.h"

#define REDIS_MS INT64_C(1000000)
#define REDIS_ID_SIZE 33 /* 128 bits in hex, and a NUL */

/* ---- Connections: conn.c ------------------------------------------------- */

struct redis_session;

struct redis_conn {
	struct dlki_pooled pooled;
	struct dlki_net net;
	struct redis_reader reader;
};

/* Connected, with user, database and name as the URI says.  NULL: see err.
 * `stop` as in core/net.h. */
struct redis_conn *dlki_redis_conn_open(const struct redis_session *s,
					const atomic_int *stop,
					dlk_time deadline,
					struct dlk_error *err);
void dlki_redis_conn_close(struct redis_conn *c);

int dlki_redis_send(struct redis_conn *c, const struct redis_out *o,
		    dlk_time deadline, struct dlk_error *err);

/* The next reply; an error of the server's is a reply, too.  Valid until the
 * next one. */
int dlki_redis_hear(struct redis_conn *c, const struct redis_reply **out,
		    dlk_time deadline, struct dlk_error *err);

extern const struct dlki_pool_type dlki_redis_pool_type;

/* ---- Session and tickets ------------------------------------------------- */

enum redis_inbox_state {
	REDIS_INBOX_NONE,    /* not needed so far */
	REDIS_INBOX_OPENING,
	REDIS_INBOX_UP,
	REDIS_INBOX_DOWN     /* to be tried again */
};

enum { REDIS_BUCKETS = 512 };

struct redis_ticket {
	struct dlk_ticket base;
	size_t key_len;       /* 0: nothing is prepared yet */
	char key[136];        /* prefix:{key} */
	int asked;            /* the server may know of it */
	int granted;          /* ... by what it said, and not released since */
	int listed;           /* among those that may be pushed */
	dlk_time lease_from;  /* when what set the lease was sent; 0: unknown */
	dlk_time lease_heard; /* when its reply came */

	/* Under the session's mu. */
	struct redis_ticket *next, **link; /* if listed */
	uint64_t look;        /* number of the last request for it */
	dlk_time look_sent;
	uint64_t pushed;      /* token that the inbox brought for that look */
};

struct redis_session {
	struct dlk_session base;

	/* Constant once opened. */
	struct dlki_pool *pool;
	char order;           /* 'f'air or 'a'ny */
	uint32_t db;
	char ttl[24];         /* the lease in ms, as digits */
	size_t ttl_len;
	size_t label_len;     /* of what is kept of the label */
	char inbox[120];      /* our channel */
	char clock[80];       /* prefix:clock, see lua/common.lua */
	size_t clock_len;
	int64_t step_ms;      /* how long the inbox's own requests may take */

	dlk_time warned;      /* of the clock; the renewing thread's */

	/*
	 * mu protects what follows and the tickets' parts above.  While it is
	 * held nothing is called but the core's services.
	 */
	pthread_mutex_t mu;
	pthread_cond_t changed;
	pthread_t thread;
	enum redis_inbox_state state;
	int started;
	atomic_int stop;           /* set under mu; the opening looks at it */
	struct redis_conn *conn;   /* the inbox's while it is UP */
	struct redis_ticket *waiting[REDIS_BUCKETS];
};

/* ---- Scripts: ask.c ------------------------------------------------------ */

enum redis_verb {
	REDIS_TAKE_EXCLUSIVE,
	REDIS_TAKE_SHARED,
	REDIS_RELEASE,
	REDIS_RELEASE_MUTEX,
	REDIS_RENEW,
	REDIS_DOWNGRADE,
	REDIS_BREAK,
	REDIS_INSPECT,
	REDIS_DESCRIBE
};

struct redis_word {
	const char *text;
	size_t len;
};

struct redis_request {
	enum redis_verb verb;
	struct redis_word key;
	const struct redis_word *args;
	size_t n;
	int twice;   /* out: it may have run once before */
	int settled; /* out: it was answered, or never sent */
};

/* `whole`: with the script's text. */
void dlki_redis_call(const struct redis_session *s, struct redis_out *o,
		     const struct redis_request *request, int whole);

/*
 * Call a script and wait for its answer, on a connection of the pool that goes
 * back with dlki_redis_done().  Sent again where an idle connection turns out
 * dead, and with its text where the server does not know it: a script may run
 * twice, and all of them bear that.  On failure there is no connection.
 */
int dlki_redis_ask(struct redis_session *s, struct redis_request *request,
		   dlk_time deadline,
		   struct redis_conn **conn, const struct redis_reply **reply,
		   struct dlk_error *err);
void dlki_redis_done(struct redis_session *s, struct redis_conn *c, int good);

/* The answer of a script is none that it gives: done, and EPROTO. */
int dlki_redis_nonsense(struct redis_session *s, struct redis_conn *c,
			struct dlk_error *err);

/* ---- Tickets: ticket.c --------------------------------------------------- */

/* The key of a claim: prefix:{key}. */
struct redis_word dlki_redis_key(const struct redis_session *s,
				 const char *key, char out[136]);
struct redis_word dlki_redis_ticket_key(struct redis_ticket *t);

/* "owner token", by which what was granted is known. */
enum { REDIS_TOKEN_LEN = 16 };
struct redis_word dlki_redis_grant(const struct redis_ticket *t, char out[52]);

/* Label and name of a claim: what others are shown. */
struct redis_word dlki_redis_tail(const struct redis_session *s,
				  const struct dlk_claim *claim,
				  char out[520]);

/* ---- Keeping: renew.c ---------------------------------------------------- */

void dlki_redis_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		      enum dlk_lease verdict[], size_t n, dlk_time deadline,
		      struct dlk_error *err);

/* ---- What the server pushes: inbox.c ------------------------------------- */

int dlki_redis_inbox_init(struct redis_session *s, struct dlk_error *err);

/* Ends the thread.  Idempotent. */
void dlki_redis_inbox_free(struct redis_session *s);

/* Have the inbox subscribed; 0: it is not, now. */
int dlki_redis_inbox_up(struct redis_session *s, dlk_time deadline);

/* A look begins: take what was pushed for the last one, and say so, or count
 * this one.  Afterwards what is pushed for it wakes the ticket. */
int dlki_redis_inbox_look(struct redis_ticket *t, uint64_t *look);

/* The ticket waits no more. */
void dlki_redis_inbox_forget(struct redis_ticket *t);

/* ---- For people: report.c ------------------------------------------------ */

int dlki_redis_inspect(struct dlk_session *s, const struct dlk_claim *claim,
		       void (*each)(const struct dlock_party *p, void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_redis_list(struct dlk_session *s,
		    void (*each)(const struct dlock_entry *e, void *arg),
		    void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_redis_break(struct dlk_session *s, const struct dlk_claim *claim,
		     dlk_time deadline, struct dlk_error *err);

/* ---- When a session opens, and closes: open.c, greet.c ------------------- */

int dlki_redis_open(struct dlk_session *base, dlk_time deadline,
		    struct dlk_error *err);
void dlki_redis_close(struct dlk_session *base, dlk_time deadline);

/* Ask the server what it is, as far as it says: ENOTSUP if it is too old, and
 * warnings of what makes it lose locks. */
int dlki_redis_greet(struct redis_session *s, dlk_time deadline,
		     struct dlk_error *err);

#endif
