/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/position.h"
#include "backends/zk/limit.h"
#include "backends/zk/poll.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"
#include "core/base/error.h"

#include <string.h>

static int watch_path(struct zk_attempt *a, const char *path, int32_t version)
{
	struct zk_watcher *w = dlki_zk_watch(a->s, a->t->base.id, path, version,
					     a->err);

	if (!w)
		return a->err->code;
	w->more = a->t->ahead;
	a->t->ahead = w;
	return 0;
}

static int watch_ahead(struct zk_attempt *a, const char *node)
{
	char path[ZK_PATH_SIZE];

	dlki_zk_path(path, a->dir, node);
	if (strcmp(node, a->hidden) == 0)
		return dlk_fail(a->err, DLOCK_EDENIED,
				"%.160s is in the way and may not be watched: "
				"its access list does not let us read it",
				path);
	return watch_path(a, path, -1);
}

/* An operator may set another number of permits. */
static int watch_number(struct zk_attempt *a, const struct zk_queue *queue)
{
	if (a->t->base.request.limit == 0)
		return 0;
	return watch_path(a, a->dir, queue->limit.version);
}

/* For a semaphore, the end of any node ahead may let us in.  But while all of
 * the nearest `n` stand, as many are still ahead. */
static enum dlk_verdict wait_in_queue(struct zk_attempt *a,
				      const struct zk_queue *queue,
				      size_t ahead, size_t in_the_way, size_t n)
{
	/* Before the others: when another watch fires, our node was there. */
	if (dlki_zk_watch_own(a->s, a->t, a->dir, 0, a->err) != 0)
		return DLK_FAILED;
	for (size_t i = in_the_way + 1; i > 0 && n > 0; i--, n--) {
		if (watch_ahead(a, queue->v[i - 1].node) != 0)
			return DLK_FAILED;
	}
	if (ahead == 1)
		a->t->sole = a->t->ahead;
	if (watch_number(a, queue) != 0)
		return DLK_FAILED;
	return dlki_zk_busy(a->s, a->t);
}

static enum dlk_verdict refuse(const struct zk_attempt *a, uint32_t limit)
{
	dlki_other_limit(a->err, &a->t->base.request, limit);
	return DLK_FAILED;
}

/* Return the first participant ahead with another number of permits, or -1. */
static ptrdiff_t first_of_other_limit(const struct zk_queue *queue,
				      size_t ahead, uint32_t limit)
{
	for (size_t i = 0; limit > 0 && i < ahead; i++) {
		if (queue->v[i].entry.limit != limit)
			return (ptrdiff_t)i;
	}
	return -1;
}

/* The first participant's number of permits counts.  Another participant that
 * differs is about to be refused, or has become the first since: wait until it
 * goes. */
static enum dlk_verdict await_other_limit(struct zk_attempt *a,
					  const struct zk_queue *queue,
					  size_t ahead, size_t other)
{
	if (other == 0)
		return refuse(a, queue->v[0].entry.limit);
	return wait_in_queue(a, queue, ahead, other, 1);
}

/* A try without room leaves at once, and need not carry the number. */
int dlki_zk_position_judge(struct zk_attempt *a, const struct zk_queue *queue,
			   size_t ahead, enum dlk_verdict *verdict)
{
	const struct dlk_request *request = &a->t->base.request;
	int served = dlki_zk_queue_is_served(queue, ahead);
	uint32_t set = queue->limit.set;
	struct dlk_queue_entry me = { request->mode,
				      set > 0 ? set : request->limit,
				      request->permits };
	ptrdiff_t last = -1, other = -1;
	int rc = 0;

	if (set == 0)
		other = first_of_other_limit(queue, ahead, request->limit);
	if (!served)
		last = dlk_grant(queue->entries, ahead, me);
	if (other >= 0) {
		*verdict = await_other_limit(a, queue, ahead, (size_t)other);
	} else if (set > 0 && me.permits > set && !served) {
		*verdict = refuse(a, set);
	} else if (last >= 0 && a->t->base.last) {
		*verdict = DLK_BUSY;
	} else {
		rc = dlki_zk_limit_carry(a, queue);
		*verdict = rc != 0  ? DLK_FAILED :
			   last < 0 ? DLK_GRANTED :
				      wait_in_queue(a, queue, ahead,
						    (size_t)last,
						    me.limit ? me.limit : 1);
	}
	return rc > 0 ? ZK_LATER : 0;
}
