/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock's wait queue, and the names of the queue's nodes.
 */
#ifndef DLOCK_BACKENDS_ZK_QUEUE_H
#define DLOCK_BACKENDS_ZK_QUEUE_H

#include "backends/zk/zk.h"

#define ZK_LAST_SEQUENCE INT32_MAX /* sequences stick there */

struct zk_call;

struct zk_participant {
	const char *node; /* of the call's names */
	int32_t sequence;
	int64_t czxid;    /* known with the last number of all; else 0 */
	uint32_t beside;  /* of an upgrade: dlki_zk_beside() of the owner of the
			   * reader beside it; else 0 */
	struct dlk_queue_entry entry;
};

/* The set number of permits: limit.c. */
struct zk_limit {
	uint32_t set;    /* 0: the participants' number counts */
	int32_t served;  /* participants up to this sequence have the lock */
	int64_t served_czxid; /* ... and with the last number of all, up to this
			       * czxid */
	size_t carrier;  /* the first carrier among the participants */
	int64_t since;   /* older participants are carriers */
	int32_t version; /* of the directory */
};

struct zk_queue {
	struct zk_participant *v; /* in order */
	struct dlk_queue_entry *entries; /* theirs, for dlk_grant() */
	size_t n;
	struct zk_limit limit;
	struct zk_call *listing; /* dropped with the queue; or NULL */
};

/* Take a node's name apart.  0: no node of dlock's.  A negative number, which
 * is later than the last number, counts as the last. */
int dlki_zk_parse(const char *node, struct zk_participant *out);

/* Return a number for the owner, other than 0.  Two owners seldom have the
 * same. */
uint32_t dlki_zk_beside(const char *owner);

/* The participants among a call's children, in order; the call must outlive
 * them.  With the session locked: where sequence numbers are used up, the nodes
 * must be read as well.  Does not look for a set number: listing.h does. */
int dlki_zk_queue_from(struct zk_session *s, struct zk_queue *out,
		       const char *dir, const struct zk_call *children,
		       dlk_time deadline, struct dlk_error *err);
/* Ask for the nodes of `n` participants; the caller waits. */
void dlki_zk_queue_ask(struct zk_session *s, const char *dir,
		       const struct zk_participant *p, size_t n,
		       struct zk_call *calls[]);
/* How many permits the semaphore has, by the queue alone; 0: not a semaphore,
 * or an empty queue. */
uint32_t dlki_zk_queue_limit(const struct zk_queue *queue);
/* Had the i-th participant the lock when the number was set? */
int dlki_zk_queue_is_served(const struct zk_queue *queue, size_t i);
/* Has the i-th participant not got the lock? */
int dlki_zk_queue_waits(const struct zk_queue *queue, size_t i);
void dlki_zk_queue_free(struct zk_queue *queue);

/* A revoke makes this node in a lock's directory, and deletes it. */
#define ZK_REVOKE_NODE "revoke"

/* A number for the beginning of a text, for tables: FNV-1a. */
uint32_t dlki_zk_hash(const char *text, size_t len);

/* The lock's directory; a node there. */
void dlki_zk_dir(const struct zk_session *s, const struct dlk_request *request,
		 char out[ZK_PATH_SIZE]);
void dlki_zk_path(char out[ZK_PATH_SIZE], const char *dir, const char *node);

#endif
