/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memcached store: what is in the server, the session and the ticket.
 *
 * The server keeps these items, P being the prefix, R the second in which the
 * server was started, and K the request's key:
 *   P.R.K      the gate of a lock: its exclusive holder, or the one that waits
 *              there until the readers have gone
 *   P.R.K.0 …  the slots: one for each reader, one for each permit
 *   P.R.K.m    the mark: of a lock, that it has or had readers; of a semaphore,
 *              how many permits it has
 *   P.R.K.w    the wish, see wish.h
 *   P.0        the witness, by which servers are told apart; see greet.c
 * Each item expires by itself, at most MEMC_MORE_S after the lease of its
 * owner.  A mark and a wish, which keep nobody out, expire some minutes later.
 *
 * A client acquires by adding an item, which fails if the item is there.  It
 * changes or removes an item by the unique number (cas) that the server gave
 * it, and so hits nothing but the item it read.
 *
 * A restarted server counts cas from 1 again.  So a key names the run of the
 * server that it is meant for, and hits nothing of the next run.  A grant is
 * believed only if that run was still there afterwards; see batch.c.
 *
 * An owner's token is the cas of its add, on top of a base that tells one run
 * of the server from the next.  It rises as the server's own count does, needs
 * no item that could be lost, and costs no request.
 */
#ifndef DLOCK_BACKENDS_MEMCACHED_H
#define DLOCK_BACKENDS_MEMCACHED_H

#include <dlock/backend_net.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "claim.h"
#include "looks.h"

#define MEMC_WITNESS_LEN 32

struct memc_polls;
struct memc_clock;

/* What servers are told apart by. */
struct memc_identity {
	uint64_t born_s, pid;
	char witness[MEMC_WITNESS_LEN + 1]; /* "": it has none */
	struct sockaddr_storage at;
	socklen_t at_len; /* 0: nothing is known */
};

struct memc_session {
	struct dlk_session base;
	struct memc_lives lives;
	struct dlk_pool *pool;
	struct dlk_server *server;
	struct memc_polls *polls;
	int early; /* looks of a wait that come sooner than the backoff's */
	struct memc_clock *clock;
	atomic_int foreign_logged; /* that dlock did not write some item */
	atomic_int proxied_logged; /* that something keeps connections */
	pthread_mutex_t home_mu;   /* protects home; a leaf */
	struct memc_identity home; /* the session's server */
};

struct memc_ticket {
	struct dlk_ticket base;
	struct memc_claim claim;
	int granted; /* and no release was asked for since */
};

static inline struct memc_session *memc_session(struct dlk_session *s)
{
	return (struct memc_session *)(void *)s;
}

static inline struct memc_ticket *memc_ticket(struct dlk_ticket *t)
{
	return (struct memc_ticket *)(void *)t;
}

/* The verbs, each in the file of its name: attempt.c, renew.c, release.c, and
 * inspect.c, which also breaks.  The last two are in wish.c. */
enum dlk_verdict dlki_memc_attempt(struct dlk_ticket *t, dlk_time deadline,
				   struct dlk_error *err);
void dlki_memc_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		     enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		     struct dlk_error *err);
int dlki_memc_release(struct dlk_ticket *t, dlk_time deadline,
		      struct dlk_error *err);
void dlki_memc_release_all(struct dlk_session *s, struct dlk_ticket *const t[],
			   size_t n, dlk_time deadline);
int dlki_memc_inspect(struct dlk_session *s, const struct dlk_request *request,
		      void (*each)(const struct dlock_participant *,
				   void *arg),
		      void *arg, dlk_time deadline, struct dlk_error *err);
int dlki_memc_break(struct dlk_session *s, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err);
int dlki_memc_watch_wanted(struct dlk_ticket *t, dlk_time deadline,
			   struct dlk_error *err);
int dlki_memc_revoke(struct dlk_session *s, const struct dlk_request *request,
		     dlk_time deadline, struct dlk_error *err);

#endif
