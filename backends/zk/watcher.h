/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchers, and the list of watchers with a deferred watch.  All functions here
 * are called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_WATCHER_H
#define DLOCK_BACKENDS_ZK_WATCHER_H

#include "backends/zk/zk.h"

#include <sys/queue.h>

struct zk_watch;

enum zk_fired { ZK_NOT_FIRED, ZK_CHANGED, ZK_GONE, ZK_HIDDEN };

/* A ticket's interest in a node. */
struct zk_watcher {
	LIST_ENTRY(zk_watcher) in_all;   /* watchers.all */
	LIST_ENTRY(zk_watcher) in_watch; /* of the same watch; le_prev NULL:
					  * not in the list */
	TAILQ_ENTRY(zk_watcher) in_deferred; /* likewise, with tqe_prev */
	struct zk_watch *watch;          /* NULL: not set, or fired */
	struct zk_watcher *more;         /* of the same ticket */
	enum zk_fired fired;
	int own;                         /* the node is the ticket's */
	int of_revokes;
	int32_t version;                 /* of the node, as the ticket knows it;
					  * -1: any is right */
	uint64_t over;                   /* an earlier claim of this session,
					  * with tokens that may go past the
					  * ticket's; 0: none */
	uint64_t used;                   /* by such claims, the last token */
	dlk_time due;                    /* of a deferred watch */
	uint64_t id;                     /* the ticket's */
	char path[];
};

/* Written by watcher.c, with the session locked. */
struct zk_watchers {
	LIST_HEAD(, zk_watcher) all;
	TAILQ_HEAD(, zk_watcher) deferred; /* not set yet */
};

void dlki_zk_watchers_init(struct zk_session *s);
void dlki_zk_watchers_free(struct zk_session *s);

/* NULL: out of memory. */
struct zk_watcher *dlki_zk_watcher_new(struct zk_session *s, uint64_t id,
				       const char *path);
void dlki_zk_watcher_free(struct zk_watcher *w);

/* Out of the list of the watch, if there. */
void dlki_zk_watcher_unlink(struct zk_watcher *w);

/* Have dlock-loop set the watch a little later; cancel the order, if any. */
void dlki_zk_watcher_defer(struct zk_session *s, struct zk_watcher *w);
void dlki_zk_watcher_undefer(struct zk_session *s, struct zk_watcher *w);

#endif
