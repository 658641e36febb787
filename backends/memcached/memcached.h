/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memcached: and memcached+unix: locks in a memcached server.
 *
 * A session has an engine with the memcached protocol, and a loop thread.  A
 * call of the core submits ops, and runs the loop until they have ended.  An
 * op's `id` is the ticket's: it is only to wake a waiter.
 *
 * What is in the server: protocol/item.h.
 *
 * LOCKS
 *  The engine's mutex protects all that is not constant.
 */
#ifndef DLOCK_MEMCACHED_H
#define DLOCK_MEMCACHED_H

#include "backends/memcached/protocol/store.h"
#include "core/loop/call.h"

struct memc_ticket {
	struct dlk_ticket base;
	struct memc_asked asked;      /* the protocol's */
	struct dlki_opcall_op ask, rel; /* ask: all verbs but RELEASE */
	int granted;                  /* and no release was asked for since */
	struct memc_ticket *next, **link; /* of the watched; link NULL: no */
};

struct memc_session {
	struct dlk_session base;
	struct dlki_session engine;

	/* Under the engine's mutex. */
	struct memc_ticket *watched; /* the server may tell who wants these */
};

static inline struct memc_session *dlki_memc_session(struct dlk_session *s)
{
	return (struct memc_session *)s;
}

/* A verb for the ticket's claim, to the end; without dlki_opcall_end(). */
void dlki_memc_call(struct dlki_opcall *call, struct memc_ticket *t,
		     enum dlki_verb verb, dlk_time deadline);

/* Prepare the ticket's op for the verb. */
struct dlki_opcall_op *dlki_memc_prepare(struct memc_ticket *t,
					  enum dlki_verb verb,
					  dlk_time deadline);

/* ---- The verbs ----------------------------------------------------------- */

enum dlk_verdict dlki_memc_attempt(struct dlk_ticket *base, dlk_time deadline,
				    struct dlk_error *err);
void dlki_memc_renew(struct dlk_session *base, struct dlk_ticket *const t[],
		      enum dlk_renewal verdicts[], size_t n, dlk_time deadline,
		      struct dlk_error *err);
int dlki_memc_release(struct dlk_ticket *base, dlk_time deadline,
		       struct dlk_error *err);
void dlki_memc_release_all(struct dlk_session *base,
			    struct dlk_ticket *const t[], size_t n,
			    dlk_time deadline);
int dlki_memc_inspect(struct dlk_session *base,
		       const struct dlk_request *request,
		       void (*each)(const struct dlock_participant *p,
				    void *arg),
		       void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_memc_break(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err);
int dlki_memc_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			    struct dlk_error *err);
int dlki_memc_revoke(struct dlk_session *base,
		      const struct dlk_request *request, dlk_time deadline,
		      struct dlk_error *err);

/* ---- Watched claims: wanted.c -------------------------------------------- */

/* The engine's mutex is held. */
void dlki_memc_unwatch(struct memc_ticket *t);
struct memc_ticket *dlki_memc_watched(const struct memc_session *s,
					const char *owner);

#endif
