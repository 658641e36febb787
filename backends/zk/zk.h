/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks in ZooKeeper.  A request is an ephemeral sequential node
 *
 *     <chroot>/<prefix>/<key>/<owner>-<x|s><limit>-<sequence>
 *
 * with <limit>*<permits> where several permits of a semaphore are wanted, and
 * 0*<number> for an upgrade, where the number tells the reader beside it; and
 * the nodes of a key, in order of their sequence, are the lock's queue.  Their
 * tokens are made of zxids, by the node `tokens` beside them: tokens.c.
 *
 * This header has the core's view of the store: the session, the tickets and
 * the verbs.  session.h describes a client's part in the store, and the mutex
 * of the session.
 */
#ifndef DLOCK_BACKENDS_ZK_ZK_H
#define DLOCK_BACKENDS_ZK_ZK_H

#include <dlock/backend.h>

#include "core/base/verb.h"

#define ZK_NODE_SIZE 80  /* owner, mode, limit*permits, sequence, NUL */
#define ZK_ROOT_MAX 255  /* the chroot */
#define ZK_PATH_SIZE 512 /* any path of ours */
#define ZK_KEY_SIZE 65   /* a request's key, NUL */
#define ZK_OWNER_SIZE 33 /* the owner, NUL */

struct zk_orphan;
struct zk_session;
struct zk_watcher;

/* The core's session. */
struct zk_client {
	struct dlk_session base;
	struct zk_session *session;
};

static inline struct zk_session *dlki_zk_session_of(struct dlk_session *base)
{
	return ((struct zk_client *)base)->session;
}

struct zk_ticket {
	struct dlk_ticket base;
	char node[ZK_NODE_SIZE];  /* ours, "" while not known */
	int64_t czxid;
	int64_t above;            /* from the node: the token is as much more
				   * than the czxid */
	uint64_t token;           /* 0: not known yet */
	uint64_t generation;      /* the session's, at the request */
	int indeterminate;        /* there may be an unknown node */
	int granted;              /* and not released since */
	int missing;              /* our node was gone at the deletion */
	int as_try;               /* the node's data names it a try's */
	int carries;              /* ... says that it carries a set number */
	int overtakes;            /* the tokens may go past the tokens of
				   * waiters of this session */
	int overtaken;            /* ... went past the token of this node, which
				   * makes room for another node */
	struct zk_orphan *room;   /* for the node, should its deletion fail;
				   * ours until release(), or NULL */
	struct zk_watcher *own;   /* of our node; or NULL */
	struct zk_watcher *revokes; /* of the semaphore; or NULL */
	struct zk_watcher *ahead; /* of the nodes to wait for */
	struct zk_watcher *sole;  /* of these, the only node ahead; or NULL */
};

/* ---- The verbs ----------------------------------------------------------- */

DLKI_VERB(attempt) dlki_zk_attempt;
DLKI_VERB(renew) dlki_zk_renew;
DLKI_VERB(release) dlki_zk_release;
DLKI_VERB(release_begin) dlki_zk_release_begin;
DLKI_VERB(release_all) dlki_zk_release_all;
DLKI_VERB(inspect) dlki_zk_inspect;
DLKI_VERB(list) dlki_zk_list;
DLKI_VERB(break_) dlki_zk_break;
DLKI_VERB(resize) dlki_zk_resize;
DLKI_VERB(revoke) dlki_zk_revoke;
DLKI_VERB(watch_wanted) dlki_zk_watch_wanted;

#endif
