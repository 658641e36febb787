/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches: on the nodes ahead of a waiter, on our own nodes, and on the nodes
 * that revokes of a semaphore make.  All functions here are called with the
 * session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_WATCH_H
#define DLOCK_BACKENDS_ZK_WATCH_H

#include "backends/zk/zk.h"

/* Written by watch.c, with the session locked. */
struct zk_watches {
	void *by_path; /* tsearch(3) */
	size_t ahead;  /* watchers of nodes to wait for */
};

/* Wake ticket `id` when the node at `path` goes, or the data has a version
 * other than `version`, unless that is -1.  Also when the access list forbids a
 * watch: ZK_HIDDEN. */
struct zk_watcher *dlki_zk_watch(struct zk_session *s, uint64_t id,
				 const char *path, int32_t version,
				 struct dlk_error *err);
/* Have t->own watch the ticket's node, unless it does: the ticket is declared
 * lost when the node goes.  When the access list forbids a watch, ZK_HIDDEN,
 * the caller asks again.  `later`: dlock-loop sets the watch a little later,
 * since most holds are released before.  0 or ENOMEM. */
int dlki_zk_watch_own(struct zk_session *s, struct zk_ticket *t,
		      const char *dir, int later, struct dlk_error *err);
/* Return the watcher of a waiting node of ours; NULL: not known. */
struct zk_watcher *dlki_zk_waiter_at(struct zk_session *s, const char *path);
/* Claim `over` has ended, and has used tokens up to `used`. */
void dlki_zk_waiters_settle(struct zk_session *s, uint64_t over, uint64_t used);
/* Tell the ticket of the next revoke of the semaphore, once the request is
 * answered.  NULL: out of memory. */
struct zk_call *dlki_zk_revokes_watch(struct zk_session *s,
				      struct zk_ticket *t);
/* Is the watch set, and was the node there ever since? */
int dlki_zk_watch_stands(const struct zk_watcher *w);
/* NULL is a no-op. */
void dlki_zk_unwatch(struct zk_session *s, struct zk_watcher *w);
/* All of a ticket's watchers of others' nodes. */
void dlki_zk_unwatch_ahead(struct zk_session *s, struct zk_ticket *t);

/* Set the deferred watches that are due.  Returns when the next is due. */
dlk_time dlki_zk_watches_set_deferred(struct zk_session *s);
/* The connection has gone; is there again. */
void dlki_zk_watches_down(struct zk_session *s);
void dlki_zk_watches_up(struct zk_session *s);
/* The ZooKeeper session is over, and every watch with it. */
void dlki_zk_watches_over(struct zk_session *s);

#endif
