/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orphans: nodes that could not be deleted.  The core repeats a release until
 * the lease must have run out, but a node lives as long as the session, which
 * other claims keep alive.  So the session remembers orphans until they are
 * gone, or the session is.  All functions here are called with the session
 * locked.
 */
#ifndef DLOCK_BACKENDS_ZK_ORPHANS_H
#define DLOCK_BACKENDS_ZK_ORPHANS_H

#include "backends/zk/zk.h"

struct zk_orphan {
	struct zk_orphan *next;
	struct zk_ticket ticket; /* a copy, with these strings: */
	char key[ZK_KEY_SIZE];
	char owner[ZK_OWNER_SIZE];
};

/* Written by orphans.c, with the session locked. */
struct zk_orphans {
	struct zk_orphan *first;
	dlk_time sweep_at; /* when to try the first orphan again */
};

/* Make `o` a copy of the ticket. */
void dlki_zk_orphan_set(struct zk_orphan *o, const struct zk_ticket *t);

/* Room for an orphan, to be put or freed; NULL: there is no memory. */
struct zk_orphan *dlki_zk_orphan_new(void);

/* Remember `o`, which has been set, in the place of an orphan of the same
 * owner; takes `o`. */
void dlki_zk_orphans_put(struct zk_session *s, struct zk_orphan *o);
/* Remember the ticket, unless an earlier release has: in the ticket's room, or
 * if there is memory.  The room is gone after a deletion that was sent without
 * waiting, and the answer may have been lost with a connection. */
void dlki_zk_orphans_add(struct zk_session *s, struct zk_ticket *t);
/* The node is gone after all. */
void dlki_zk_orphans_remove(struct zk_session *s, const char *owner);
/* The first could not be deleted: wait a moment, and then try the others
 * first. */
void dlki_zk_orphans_put_off(struct zk_session *s);
void dlki_zk_orphans_free(struct zk_session *s);

#endif
