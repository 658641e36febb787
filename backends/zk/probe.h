/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests for the lease's sake: whether the server is standalone, and from
 * time to time a round, the first three requests under a lease (see lease.c).
 * All functions here are called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_PROBE_H
#define DLOCK_BACKENDS_ZK_PROBE_H

#include "backends/zk/zk.h"

/* Written by probe.c, with the session locked. */
struct zk_probe {
	int standalone;     /* the server is standalone; asked on each
			     * connection, */
	int known;          /* ... and answered */
	int asking;         /* a request of the round is unanswered */
	dlk_time asked_at;  /* when the last request was sent */
	dlk_time round;     /* when the round began; 0: no round */
	dlk_time took;      /* the last round, to the last answer */
	dlk_time wanted_at; /* when to begin a round for a renewal; 0: no
			     * renewal is near */
};

/* A session begins. */
void dlki_zk_probe_begin(struct zk_session *s);
/* It has got a connection. */
void dlki_zk_probe_connected(struct zk_session *s);
/* Ask whether the server is by itself. */
void dlki_zk_probe_kind(struct zk_session *s);
/* The next renewal is a third of the lease away; of the time-out. */
void dlki_zk_probe_granted(struct zk_session *s, const struct dlk_ticket *t);
void dlki_zk_probe_renewed(struct zk_session *s);
/* Send a round's due requests.  Returns when more are due. */
dlk_time dlki_zk_probe(struct zk_session *s);

#endif
