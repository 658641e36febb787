/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease: what it counts from, and how much of it is left.  All of this is
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
	ZK_DUE,      /* the leader has pinged it, or is late with that */
	ZK_REPORTED, /* our server has answered the ping */
	ZK_STAGES
};

struct zk_mark {
	dlk_time sent;
	dlk_time answered; /* the request that brought it to its stage */
};

/* The oldest and the newest, in order. */
struct zk_marks {
	int n;
	struct zk_mark mark[ZK_MARKS];
};

/* Written by lease.c, with the session locked; timeout_ms by conn.c. */
struct zk_lease {
	dlk_time proved;        /* the server that ends sessions has heard
				 * of ours at or after this time; 0: not */
	dlk_time heard;         /* when the last answered request was sent */
	int64_t timeout_ms;     /* the least that the session has had */
	dlk_time marked;        /* when the last mark's request was sent */
	struct zk_marks stage[ZK_STAGES]; /* of this connection */
};

/* A session begins, asked for at `asked`. */
void dlki_zk_lease_begin(struct zk_session *s, dlk_time asked);
/* It has got a connection. */
void dlki_zk_lease_connected(struct zk_session *s);
/* The server answered a request, which `passed` the leader, and if `agreed` was
 * a write that the others have agreed on. */
void dlki_zk_lease_answered(struct zk_session *s, const struct zk_call *call,
			    int passed, int agreed);

/* Would another write bring less than a `part`th of the time-out? */
int dlki_zk_lease_fresh(const struct zk_session *s, int part);
/* Would a write sent now bring more than that? */
int dlki_zk_lease_gains(const struct zk_session *s, int part);
/* Fill in lease_ms and renew_from. */
void dlki_zk_lease_tell(const struct zk_session *s, struct dlk_ticket *t);
/* Is enough left of the lease to grant on it?  If not, `err` says why:
 * EUNREACHABLE until a write a tick later has been agreed on. */
int dlki_zk_lease_suffices(const struct zk_session *s, struct dlk_ticket *t,
			   struct dlk_error *err);
/* 1: the servers are an ensemble, and none whose tick is that long keeps a
 * session so short. */
int dlki_zk_lease_too_short(const struct zk_session *s, struct dlk_error *err);

dlk_time dlki_zk_tick_ns(const struct zk_session *s);
dlk_time dlki_zk_timeout_ns(const struct zk_session *s);
/* When the newest mark was sent that a write would prove. */
dlk_time dlki_zk_lease_reported(const struct zk_session *s);
/* When to send what passes the leader, to bring a mark made at `since` or later
 * to its next stage; DLK_FOREVER: there is no such mark. */
dlk_time dlki_zk_lease_next(const struct zk_session *s, dlk_time since);

#endif
