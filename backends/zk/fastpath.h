/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The uncontended fast path: a client that takes a lock again need not list the
 * queue, if nobody else has asked for the lock meanwhile.  All of this is
 * called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_FASTPATH_H
#define DLOCK_BACKENDS_ZK_FASTPATH_H

#include "backends/zk/zk.h"

#define ZK_FASTPATH_LOCKS 128 /* that a session remembers */

/* A lock whose queue had nobody but us. */
struct zk_uncontended {
	char key[ZK_KEY_SIZE]; /* "": none */
	char left;             /* our node in it has been deleted */
	char trusted;          /* nobody came between our last two nodes */
	int32_t sequence;      /* of our last node */
	int64_t czxid;         /* ... likewise */
	uint64_t connects;     /* the session's, when it was made */
};

/* Written by fastpath.c, with the session locked. */
struct zk_fastpath {
	struct zk_uncontended lock[ZK_FASTPATH_LOCKS]; /* by hash of the key */
};

/* Nobody else is expected, so that the queue need not be listed. */
int dlki_zk_fastpath_likely(struct zk_session *s, const char *key);
/* The ticket's node has been made.  1: nobody else is there, for certain. */
int dlki_zk_fastpath_proven(struct zk_session *s, const struct zk_ticket *t);
/* A listing on this connection showed nobody else. */
void dlki_zk_fastpath_learn(struct zk_session *s, const struct zk_ticket *t);
/* The ticket's node has been deleted, or the request for that was sent. */
void dlki_zk_fastpath_deleted(struct zk_session *s, const struct zk_ticket *t);
/* ... and came to nothing, for a lock of this directory. */
void dlki_zk_fastpath_stays(struct zk_session *s, const char *key, size_t len);

#endif
