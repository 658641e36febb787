/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lease: what it counts from, and how much of it is left.  All of this is
 * called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_LEASE_H
#define DLOCK_BACKENDS_ZK_LEASE_H

#include "backends/zk/zk.h"

#define ZK_MARKS 16

struct zk_call;

/* An answered request. */
struct zk_mark {
	dlk_time sent, answered;
};

/* Written by lease.c, with the session locked; timeout_ms by conn.c. */
struct zk_lease {
	dlk_time proved;        /* the server that ends sessions has heard
				 * of ours at or after this time; 0: not */
	dlk_time heard;         /* when the last answered request was sent */
	int64_t timeout_ms;     /* the least that the session has had */
	uint64_t marks;         /* made on this connection; the last are in: */
	struct zk_mark mark[ZK_MARKS];
};

/* A session begins, asked for at `asked`. */
void dlki_zk_lease_begin(struct zk_session *s, dlk_time asked);
/* It has got a connection. */
void dlki_zk_lease_connected(struct zk_session *s);
/* The server answered a request, which if `agreed` was a write that the others
 * have agreed on. */
void dlki_zk_lease_answered(struct zk_session *s, const struct zk_call *call,
			    int agreed);

/* Would another write bring less than a `part`th of the time-out? */
int dlki_zk_lease_fresh(const struct zk_session *s, int part);
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
/* When the newest mark's request was sent. */
dlk_time dlki_zk_lease_marked(const struct zk_session *s);

#endif
