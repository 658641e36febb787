/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock's directory, watched for a claim: the core is told when another
 * session joins the wait queue.  All of this is called with the session locked.
 */
#ifndef DLOCK_BACKENDS_ZK_DIRECTORY_H
#define DLOCK_BACKENDS_ZK_DIRECTORY_H

#include "backends/zk/zk.h"

#define ZK_DIRECTORY_BUCKETS 256

struct zk_call;
struct zk_directory;

/* Written by directory.c, with the session locked. */
struct zk_directories {
	struct zk_directory *bucket[ZK_DIRECTORY_BUCKETS]; /* by path */
	size_t n;
};

/* List the directory of the ticket's granted node, and watch it from then on.
 * The session also tells of a change that an earlier listing for the ticket did
 * not show.  NULL: out of memory. */
struct zk_call *dlki_zk_directory_watch(struct zk_session *s,
					struct zk_ticket *t);
/* The claim ends, which need not have a watched directory. */
void dlki_zk_directory_drop(struct zk_session *s, struct zk_ticket *t);

/* The answer to the creation of a node of ours in a wait queue. */
void dlki_zk_directories_joined(struct zk_session *s, struct zk_call *create);
/* The connection has gone, and with it every watch: requests of others are
 * unknown. */
void dlki_zk_directories_down(struct zk_session *s);

#endif
