/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to the session's server, and the pool of them: conn.c.  What a
 * server must tell before it is trusted: greet.c.
 */
#ifndef DLOCK_BACKENDS_MEMCACHED_CONN_H
#define DLOCK_BACKENDS_MEMCACHED_CONN_H

#include "memcached.h"

/* One thread uses it at a time. */
struct memc_conn {
	struct dlk_pooled pooled;
	struct memc_session *session;
	struct dlk_net net;
	struct memc_identity server;
	struct memc_run run; /* its epoch is dlk_server_epoch()'s */
	dlk_time round_trip; /* how long the latest answer took */
	int changed;         /* it leads to another run of the server now */
	size_t in_at, in_end;
	struct memc_out out;
	char in[16384];
};

extern const struct dlk_pool_type dlki_memc_pool_type;

/* NULL: no memory. */
struct dlk_server *dlki_memc_server_new(struct memc_session *s);

/* 0, or EUNREACHABLE: the session belongs to another server now. */
int dlki_memc_current(const struct memc_conn *c, struct dlk_error *err);

typedef int dlki_memc_work(struct memc_conn *c, void *arg, dlk_time deadline,
			   struct dlk_error *err);

/*
 * Do `work` with a connection; and again with a new one if an idle connection
 * turns out to be dead, or a connection to lead elsewhere.  So `work` must be
 * fit to be done twice.
 */
int dlki_memc_with(struct memc_session *s, dlki_memc_work *work, void *arg,
		   dlk_time deadline, struct dlk_error *err);

/* The same for an attempt: also sets the ticket's settled, resent and
 * crowded. */
int dlki_memc_with_attempt(struct memc_ticket *t, dlki_memc_work *work,
			   void *arg, dlk_time deadline,
			   struct dlk_error *err);

/* The same for a renewal, which waits for no other request. */
int dlki_memc_with_urgent(struct memc_session *s, dlki_memc_work *work,
			  void *arg, dlk_time deadline,
			  struct dlk_error *err);

/* Ask a new connection's server what it is, and which.  `home` is what the
 * session knows of its server. */
int dlki_memc_greet(struct memc_conn *c, const struct memc_identity *home,
		    char identity[DLK_IDENTITY_SIZE], dlk_time deadline,
		    struct dlk_error *err);

#endif
