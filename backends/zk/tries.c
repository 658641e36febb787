/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several tries ask for a new lock at once.  The client of the first node in
 * the queue may give up for want of an answer, and delete the node later.  If
 * the other tries took the node for a holder's, all tries would fail.
 *
 * So the data of a node names it a try's, until the try is granted.  A try with
 * only such nodes in the way lists the queue again, a few times, until the try
 * is the first or the first node is a holder's.  Each try keeps the node
 * meanwhile, so no two tries wait for each other.  The wait has an end: a
 * killed client leaves a node for the rest of the session.
 */
#include "backends/zk/tries.h"
#include "backends/zk/call.h"
#include "backends/zk/data.h"
#include "backends/zk/listing.h"
#include "backends/zk/session.h"
#include "backends/zk/upgrade.h"

#include <string.h>

/* More time to make nodes, and to wait for other tries: in a try's own time. */
#define MORE 4
#define MOST_MORE_NS (1000 * DLK_MS)
#define PAUSE_NS DLK_MS
#define MOST_PAUSE_NS (8 * DLK_MS)
#define MOST_READ 32 /* nodes; further nodes count as holders' */

static dlk_time at_most(dlk_time time, dlk_time most)
{
	return time < most ? time : most;
}

static dlk_time more_time(const struct zk_attempt *a)
{
	return at_most(MORE * a->had, MOST_MORE_NS);
}

/* The first anchor of a connection is not made yet.  A server is likely to
 * answer right after it accepted a connection. */
void dlki_zk_tries_begin(struct zk_attempt *a)
{
	if (!a->t->base.is_try || a->s->tokens.raised_on == a->s->connects)
		return;
	a->prepared = more_time(a);
	a->deadline += a->prepared;
}

void dlki_zk_tries_prepared(struct zk_attempt *a, dlk_time since)
{
	dlk_time more = at_most(dlk_now() - since, more_time(a) - a->prepared);

	if (!a->t->base.is_try)
		return;
	a->prepared += more;
	a->deadline += more;
}

/* ---- Nodes in the way ---------------------------------------------------- */

/* Do holders or waiters among the first `ahead` nodes block the request?  Then
 * a->held is the last of their nodes.  An unreadable node is not a try's. */
static int is_held(struct zk_attempt *a, const struct zk_queue *queue,
		   size_t ahead)
{
	const struct dlk_request *request = &a->t->base.request;
	uint32_t set = queue->limit.set;
	struct dlk_queue_entry me = { request->mode,
				      set > 0 ? set : request->limit,
				      request->permits };
	size_t n = ahead < MOST_READ ? ahead : MOST_READ, kept = 0;
	struct zk_call *calls[MOST_READ] = { NULL };
	const char *last = NULL;
	ptrdiff_t at;

	dlki_zk_queue_ask(a->s, a->dir, queue->v, n, calls);
	dlki_zk_wait(a->s, calls, n, a->deadline);
	for (size_t i = 0; i < ahead; i++) {
		if (i < n && calls[i] &&
		    (calls[i]->rc == ZNONODE ||
		     (calls[i]->rc == ZOK && dlki_zk_data_is_try(calls[i]))))
			continue;
		queue->entries[kept++] = queue->v[i].entry;
		last = queue->v[i].node;
	}
	dlki_zk_drop(calls, n);
	at = dlk_grant(queue->entries, kept, me);
	if (at >= 0 && last)
		memcpy(a->held, last, strlen(last) + 1);
	return at >= 0;
}

int dlki_zk_tries_look(struct zk_attempt *a)
{
	struct zk_call *listing = dlki_zk_children(a->s, a->dir);
	struct zk_queue queue;
	int rc = 0;

	dlki_zk_wait(a->s, &listing, 1, a->deadline);
	a->no_dir = listing && listing->rc == ZNONODE;
	if (!a->no_dir)
		rc = dlki_zk_reason(listing, "listing", a->err);
	if (rc == 0 && !a->no_dir)
		rc = dlki_zk_listing_queue(a->s, &queue, a->dir, listing,
					   a->deadline, a->err);
	if (rc > 0) { /* the queue changes: no need to look */
		rc = 0;
	} else if (rc == 0 && !a->no_dir) {
		queue.n = dlki_zk_upgrade_sees(a, &queue, queue.n);
		if (is_held(a, &queue, queue.n) && dlk_now() >= a->deadline)
			a->held[0] = '\0'; /* perhaps for want of answers */
		dlki_zk_queue_free(&queue);
	}
	dlki_zk_drop(&listing, 1);
	return rc;
}

/* ---- Waiting ------------------------------------------------------------- */

/* Is a->held there still?  A single node blocks an exclusive request. */
static int still_held(const struct zk_attempt *a, const struct zk_queue *queue,
		      size_t ahead)
{
	if (!a->held[0] || a->t->base.request.mode != DLK_EXCLUSIVE)
		return 0;
	for (size_t i = 0; i < ahead; i++) {
		if (strcmp(queue->v[i].node, a->held) == 0)
			return 1;
	}
	return 0;
}

int dlki_zk_tries_await(struct zk_attempt *a, const struct zk_queue *queue,
			size_t ahead)
{
	dlk_time again;

	if (!a->t->base.is_try || still_held(a, queue, ahead))
		return 0;
	if (a->pause == 0) {
		a->pause = PAUSE_NS;
		a->patience = dlk_now() + more_time(a);
		a->deadline = a->patience + a->had; /* for the last answer */
	}
	if (is_held(a, queue, ahead))
		return 0;
	again = dlk_now() + a->pause;
	if (again >= a->patience)
		return 0;
	dlki_zk_sleep(&a->s->changed, a->s, again);
	a->pause = at_most(2 * a->pause, MOST_PAUSE_NS);
	return 1;
}
