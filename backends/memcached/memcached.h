/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached:, memcached+unix: and memcacheds: (TLS): locks in a memcached
 * server.
 *
 * A session has a server, or the servers of a fleet.  Each server has an engine
 * of the memcached protocol.  The pool says which server keeps a name; a name
 * never moves to another server.
 *
 * A call of the core submits ops, and runs the loop until they have ended.  An
 * op's `id` is the ticket's, and only wakes a waiter.
 *
 * The items in a server: protocol/item.h.
 *
 * LOCKS
 *  The engine's mutex protects all that is not constant.
 */
#ifndef DLOCK_MEMCACHED_H
#define DLOCK_MEMCACHED_H

#include <sys/queue.h>

#include "backends/memcached/pool/digest.h"
#include "backends/memcached/protocol/store.h"
#include "core/loop/call.h"
#include "core/loop/verbs.h"

struct memc_ticket {
	struct dlk_ticket base;
	struct memc_server *server;   /* NULL: no attempt yet */
	struct memc_asked asked;      /* the protocol's */
	struct dlki_opcall_op ask, rel; /* ask: all verbs but RELEASE */
	bool granted;                 /* since then no release was asked for */
	bool in_batch;                /* of the server, and not taken */
	LIST_ENTRY(memc_ticket) in_watched; /* le_prev NULL: not there */
};

/* One of the session's servers. */
struct memc_server {
	struct dlk_session base; /* as of a session with this server alone */
	struct dlki_session engine;
	struct dlki_opcall batch; /* see batch.h ... */
	int in_batch;             /* ... is under way, until taken ... */
	int left;                 /* ... and the mutex was left meanwhile */
	struct dlk_uri uri;      /* in `base`, if there are several servers */
	struct dlk_host host;
	char digest[MEMC_DIGEST]; /* of the pool */
	struct memc_given given;
	struct dlk_error away; /* when the client was opened, or code 0 */

	/* Under the engine's mutex. */
	LIST_HEAD(, memc_ticket) watched; /* the server may tell of a wish */
};

struct memc_session {
	struct dlki_remote remote;
	struct memc_pool *pool; /* NULL: the URI names one server */
	struct memc_server *servers;
	unsigned int n;
	unsigned int looked_at; /* the server, last, of a batch in parts */
};

static inline struct memc_session *dlki_memc_session(struct dlk_session *s)
{
	return (struct memc_session *)s;
}

/* Return the server that keeps the name. */
static inline struct memc_server *
dlki_memc_server_of(struct dlk_session *s, const char *name)
{
	const struct memc_session *m = dlki_memc_session(s);

	return &m->servers[m->pool ? dlki_memc_pool_place(m->pool, name) : 0];
}

/* ---- Opening: server.c, fleet.c ------------------------------------------ */

/* Begin to connect, then wait for the server; `base` is set.  0, or see err;
 * after EUNREACHABLE of await() the server may be used, and is tried again. */
int dlki_memc_server_begin(struct memc_server *s, struct dlk_error *err);
int dlki_memc_server_await(struct memc_server *s, dlk_time deadline,
			   struct dlk_error *err);

DLKI_VERB(open) dlki_memc_open;
DLKI_VERB(close) dlki_memc_close;

/* ---- Ops: ticket.c ------------------------------------------------------- */

/* Carry out a verb for the ticket's claim, to the end.  Returns the call, which
 * the caller ends by dlki_opcall_done(); or NULL: the ticket's caller does not
 * wait.  `stack` is the caller's. */
struct dlki_opcall *dlki_memc_call(struct dlki_opcall *stack,
				   struct memc_ticket *t, enum dlki_verb verb,
				   dlk_time deadline);

/* The core does not go on with a call of the ticket's.  The engine's mutex is
 * held. */
void dlki_memc_forgo(struct memc_ticket *t);

/* Prepare the ticket's op for the verb. */
struct dlki_opcall_op *dlki_memc_prepare(struct memc_ticket *t,
					  enum dlki_verb verb,
					  dlk_time deadline);

/* ---- The verbs ----------------------------------------------------------- */

DLKI_VERB(attempt) dlki_memc_attempt;
DLKI_VERB(renew) dlki_memc_renew;
DLKI_VERB(release) dlki_memc_release;
DLKI_VERB(release_all) dlki_memc_release_all;
DLKI_VERB(watch_wanted) dlki_memc_watch_wanted;

/* ---- Watched claims: wanted.c -------------------------------------------- */

/* The engine's mutex is held. */
void dlki_memc_unwatch(struct memc_ticket *t);
struct memc_ticket *dlki_memc_watched(const struct memc_server *s,
				      const char *owner);

#endif
