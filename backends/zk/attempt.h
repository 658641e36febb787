/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One attempt, as attempt.c and enqueue.c share it.
 */
#ifndef DLOCK_BACKENDS_ZK_ATTEMPT_H
#define DLOCK_BACKENDS_ZK_ATTEMPT_H

#include "backends/zk/zk.h"

#define ZK_SHORT_NS (200 * DLK_MS) /* the rest of a try */

struct zk_call;

/* The caller's own; but for `s` no lock is needed. */
struct zk_attempt {
	struct zk_session *s;
	struct zk_ticket *t;
	dlk_time deadline;
	struct dlk_error *err;
	char dir[ZK_PATH_SIZE];
	int proven;        /* no write of this attempt need be answered */
	int uncontended;   /* no other client is in the queue */
	uint64_t connects; /* the session's, when this began */
	char hidden[ZK_NODE_SIZE]; /* a node without a right to read, or "" */
	int no_dir;                /* the directory is to be made */
	dlk_time had;              /* the time until the caller's deadline */
	/* Of a try: tries.c. */
	char held[ZK_NODE_SIZE]; /* a holder's or waiter's, in the way; or "" */
	dlk_time prepared;       /* time not counted */
	dlk_time patience;       /* waits for other tries until then ... */
	dlk_time pause;          /* ... as long as this; 0: met no try */
};

/* Beside 0 and the error codes, which are negative. */
enum { ZK_AGAIN = 1, ZK_NO_ROOM, ZK_LATER };

/* With the session locked: make the ticket's node, and list the queue if
 * necessary.  0: `children` has the listing, or NULL.  ZK_NO_ROOM: the answer
 * is late, but others hold the lock. */
int dlki_zk_enqueue(struct zk_attempt *a, struct zk_call **children);

#endif
