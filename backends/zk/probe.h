/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads for the lease's sake: whether the server is by itself, and a mark from
 * time to time (see lease.c).  All of this is called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_PROBE_H
#define DLOCK_BACKENDS_ZK_PROBE_H

#include "backends/zk/zk.h"

/* Written by probe.c, with the session locked. */
struct zk_probe {
	int standalone;     /* the server has nobody to agree with; asked on
			     * each connection, */
	int known;          /* ... and answered */
	dlk_time asked_at;  /* when the last read was sent */
	dlk_time wanted_at; /* when to ask for a renewal; 0: none is near */
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
/* Ask for a mark, if that is due.  Returns when the next one is. */
dlk_time dlki_zk_probe(struct zk_session *s);

#endif
