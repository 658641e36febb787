/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The uncontended fast path: a client that takes a lock again need not list the
 * queue, if no other client has asked for the lock meanwhile.  All functions
 * here are called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_FASTPATH_H
#define DLOCK_BACKENDS_ZK_FASTPATH_H

#include "backends/zk/zk.h"

#define ZK_FASTPATH_LOCKS 128 /* remembered by a session */

/* A lock with no other client in the queue. */
struct zk_uncontended {
	char key[ZK_KEY_SIZE]; /* "": unused */
	char left;             /* our node there has been deleted */
	char trusted;          /* no other node between our last two nodes */
	int32_t sequence;      /* of our last node */
	int64_t czxid;         /* ... likewise */
	uint64_t connects;     /* the session's, at the time */
};

/* Written by fastpath.c, with the session locked. */
struct zk_fastpath {
	struct zk_uncontended lock[ZK_FASTPATH_LOCKS]; /* by hash of the key */
};

/* Is no other client expected, so that the queue need not be listed? */
int dlki_zk_fastpath_likely(struct zk_session *s, const char *key);
/* The ticket's node has been made.  1: no other client is there, for
 * certain. */
int dlki_zk_fastpath_proven(struct zk_session *s, const struct zk_ticket *t);
/* A listing on this connection showed no other client. */
void dlki_zk_fastpath_learn(struct zk_session *s, const struct zk_ticket *t);
/* The ticket's node has been deleted, or the request to delete was sent. */
void dlki_zk_fastpath_deleted(struct zk_session *s, const struct zk_ticket *t);
/* ... and failed, for a lock of this directory. */
void dlki_zk_fastpath_stays(struct zk_session *s, const char *key, size_t len);

#endif
