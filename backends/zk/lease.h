/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease: when it began, and how much is left.  All functions here are
 * called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_LEASE_H
#define DLOCK_BACKENDS_ZK_LEASE_H

#include "backends/zk/zk.h"

#define ZK_MARKS 8

struct zk_call;

/* How far the leader is known to have come since a request (see lease.c). */
enum zk_stage {
	ZK_NOTED,    /* our server has noted the session */
	ZK_DUE,      /* the leader has pinged since, or is late with the ping */
	ZK_REPORTED, /* our server has answered the ping */
	ZK_STAGES
};

struct zk_mark {
	dlk_time sent;
	dlk_time answered; /* the request that brought the mark to this stage */
};

/* The oldest and the newest, in order. */
struct zk_marks {
	int n;
	struct zk_mark mark[ZK_MARKS];
};

/* Written by lease.c, with the session locked; timeout_ms by conn.c. */
struct zk_lease {
	dlk_time proved;        /* the server that ends sessions has heard of
				 * ours at or after this time; 0: not yet */
	dlk_time heard;         /* when the last answered request was sent */
	int64_t timeout_ms;     /* the least the session has had */
	dlk_time marked;        /* when the last mark's request was sent */
	struct zk_marks stage[ZK_STAGES]; /* of this connection */
};

/* A session begins, asked for at `asked`. */
void dlki_zk_lease_begin(struct zk_session *s, dlk_time asked);
/* The session has got a connection. */
void dlki_zk_lease_connected(struct zk_session *s);
/* The server answered a request, which `passed` the leader, and if `agreed` was
 * a write agreed on by the others. */
void dlki_zk_lease_answered(struct zk_session *s, const struct zk_call *call,
			    int passed, int agreed);

/* Would another write bring less than a `part`th of the time-out? */
int dlki_zk_lease_fresh(const struct zk_session *s, int part);
/* Fill in lease_ms and renew_from. */
void dlki_zk_lease_tell(const struct zk_session *s, struct dlk_ticket *t);
/* Is enough left of the lease to grant a claim?  If not, `err` says why:
 * EUNREACHABLE until a write a tick later has been agreed on. */
int dlki_zk_lease_suffices(const struct zk_session *s, struct dlk_ticket *t,
			   struct dlk_error *err);
/* 1: the servers are an ensemble, and no server with so long a tick keeps a
 * session so short. */
int dlki_zk_lease_too_short(const struct zk_session *s, struct dlk_error *err);

dlk_time dlki_zk_tick_ns(const struct zk_session *s);
dlk_time dlki_zk_timeout_ns(const struct zk_session *s);
/* Return when the newest mark was sent that is proved, or that a write would
 * prove. */
dlk_time dlki_zk_lease_reported(const struct zk_session *s);
/* Return when to send a request that passes the leader, to bring a mark made at
 * `since` or later to the next stage; DLK_FOREVER: no such mark. */
dlk_time dlki_zk_lease_next(const struct zk_session *s, dlk_time since);

#endif
