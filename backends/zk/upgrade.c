/* SPDX-License-Identifier: Apache-2.0 */
/*
 * While the reader beside the upgrade stands, no exclusive waiter behind the
 * reader can have the lock, and no participant behind such a waiter.  So the
 * upgrade deletes the nodes of these waiters, from the last to the first.  Each
 * waiter hears of the deletion, and queues again behind the upgrade, for a
 * larger token.
 *
 * The deletion is a transaction with three checks.  The reader and the first
 * exclusive waiter stand, so no deleted node is a holder's.  And the upgrade
 * stands, so a transaction that arrives late, after the upgrade gave up, evicts
 * no waiter.  If a waiter left meanwhile, the transaction fails as a whole, and
 * the upgrade lists the queue again.
 *
 * Another upgrade ahead may have the lock beside the same reader, and is never
 * deleted: the name of the node tells the upgrade from a waiter.
 */
#include "backends/zk/upgrade.h"
#include "backends/zk/call.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <string.h>

#define MOST 32 /* nodes deleted at once */

enum { READER, FIRST, OURS, CHECKS };

/* Places among the participants ahead of an upgrade; `ahead` is no place. */
struct places {
	size_t reader;  /* the reader beside the upgrade */
	size_t first;   /* the first exclusive participant */
	size_t waiters; /* from here on all are waiters to evict */
};

static struct places find_places(const struct zk_attempt *a,
				 const struct zk_queue *queue, size_t ahead)
{
	const char *owner = a->t->base.request.beside;
	struct places at = { ahead, ahead, ahead };

	for (size_t i = 0; i < ahead; i++) {
		const struct zk_participant *p = &queue->v[i];

		if (p->entry.mode == DLK_EXCLUSIVE && at.first == ahead)
			at.first = at.waiters = i;
		if (p->beside != 0)
			at.waiters = i + 1;
		if (at.first == ahead && owner &&
		    strncmp(p->node, owner, strlen(owner)) == 0)
			at.reader = i;
	}
	return at;
}

size_t dlki_zk_upgrade_sees(const struct zk_attempt *a, struct zk_queue *queue,
			    size_t ahead)
{
	struct places at = find_places(a, queue, ahead);
	size_t behind;

	if (at.reader == ahead)
		return ahead;
	behind = at.waiters - at.reader - 1;
	memmove(queue->v + at.reader, queue->v + at.reader + 1,
		behind * sizeof(*queue->v));
	memmove(queue->entries + at.reader, queue->entries + at.reader + 1,
		behind * sizeof(*queue->entries));
	return at.waiters - 1;
}

/* 0: the servers have answered, whether the nodes were deleted or not. */
static int evict(struct zk_attempt *a, const struct zk_queue *queue,
		 struct places at, size_t ahead)
{
	size_t n = ahead - at.waiters < MOST ? ahead - at.waiters : MOST;
	const char *checked[CHECKS] = { queue->v[at.reader].node,
					queue->v[at.first].node, a->t->node };
	char paths[CHECKS + MOST][ZK_PATH_SIZE];
	zoo_op_t ops[CHECKS + MOST];
	struct zk_call *call;
	int rc = 0;

	for (size_t i = 0; i < CHECKS; i++) {
		dlki_zk_path(paths[i], a->dir, checked[i]);
		zoo_check_op_init(&ops[i], paths[i], -1);
	}
	for (size_t i = 0; i < n; i++) {
		char *path = paths[CHECKS + i];

		dlki_zk_path(path, a->dir, queue->v[ahead - 1 - i].node);
		zoo_delete_op_init(&ops[CHECKS + i], path, -1);
	}
	call = dlki_zk_multi(a->s, paths[OURS], ops, CHECKS + n);
	dlki_zk_wait(a->s, &call, 1, a->deadline);
	if (!call || call->rc != ZNONODE)
		rc = dlki_zk_reason(call, "overtaking waiters", a->err);
	dlki_zk_drop(&call, 1);
	return rc;
}

/* A try that has to give up, because of other readers, evicts no waiter. */
int dlki_zk_upgrade_advance(struct zk_attempt *a, struct zk_queue *queue,
			    size_t *ahead)
{
	struct places at = find_places(a, queue, *ahead);
	int rc;

	if (at.reader == *ahead || at.waiters == *ahead ||
	    (a->t->base.last && at.waiters > 1)) {
		*ahead = dlki_zk_upgrade_sees(a, queue, *ahead);
		return 0;
	}
	rc = evict(a, queue, at, *ahead);
	return rc == 0 ? ZK_LATER : rc;
}
