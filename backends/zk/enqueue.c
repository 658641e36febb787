/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/attempt.h"
#include "backends/zk/call.h"
#include "backends/zk/fastpath.h"
#include "backends/zk/queue.h"
#include "backends/zk/root.h"
#include "backends/zk/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The directory's data is what dlock_list() reports. */
static int make_dirs(struct zk_attempt *a)
{
	const struct dlk_request *request = &a->t->base.request;
	struct zk_call *calls[2];
	char data[300];
	int rc;

	snprintf(data, sizeof(data), "%u %s", request->limit, request->name);
	calls[0] = dlki_zk_create(a->s, a->s->config.base, "", 0,
				  ZOO_CONTAINER);
	calls[1] = dlki_zk_create(a->s, a->dir, data, strlen(data),
				  ZOO_CONTAINER);
	dlki_zk_wait(a->s, calls, 2, a->deadline);
	if (calls[0] && calls[0]->rc == ZNONODE)
		rc = dlki_zk_root_make(a->s, a->deadline, a->err);
	else if (calls[1] && calls[1]->rc == ZNODEEXISTS)
		rc = 0;
	else if (calls[1] && calls[1]->rc == ZNONODE && calls[0] &&
		 calls[0]->rc != ZNODEEXISTS)
		rc = dlki_zk_reason(calls[0], "making", a->err);
	else if (calls[1] && calls[1]->rc == ZNONODE)
		rc = 0; /* reaped meanwhile */
	else
		rc = dlki_zk_reason(calls[1], "making", a->err);
	dlki_zk_drop(calls, 2);
	return rc;
}

/* Take note of the answer.  Without one, the node may have been made. */
static int note_created(struct zk_attempt *a, const struct zk_call *create)
{
	struct zk_ticket *t = a->t;

	if (create && create->rc == ZOK) {
		memcpy(t->node, create->node, sizeof(t->node));
		t->czxid = create->stat.czxid;
		t->indeterminate = 0;
		dlki_zk_tokens_tell(a->s, t, create->stat.ctime);
		return 0;
	}
	if (!create || create->rc <= ZAPIERROR)
		t->indeterminate = create && (create->rc == ZSESSIONEXPIRED ||
					      create->rc == ZSESSIONMOVED ||
					      create->rc == ZCLOSING);
	if (create && create->rc == ZNONODE) {
		int rc = make_dirs(a);

		return rc != 0 ? rc : ZK_AGAIN;
	}
	return dlki_zk_reason(create, "joining the wait queue", a->err);
}

/* 1: by this listing, others hold all there is. */
static int queue_has_no_room(struct zk_session *s,
			     const struct dlk_request *request, const char *dir,
			     const struct zk_call *children)
{
	struct dlk_queue_entry me = { request->mode, request->limit };
	struct zk_queue queue;
	int full;

	if (!children || children->rc != ZOK ||
	    dlki_zk_queue_from(s, &queue, dir, children, dlk_now(), NULL) != 0)
		return 0;
	full = dlk_grant(queue.entries, queue.n, me) >= 0;
	dlki_zk_queue_free(&queue);
	return full;
}

/* Ask for the node, and the listing unless `likely` nobody else is there. */
static int join_queue(struct zk_attempt *a, struct zk_call *calls[3],
		      int likely)
{
	struct zk_ticket *t = a->t;
	const struct dlk_request *request = &t->base.request;
	char path[ZK_PATH_SIZE], limit[12] = "", node[ZK_NODE_SIZE], *data;
	size_t len;

	t->above = dlki_zk_tokens_above(a->s);
	data = dlki_zk_tokens_data(t, &len);
	if (!data)
		return dlk_fail(a->err, DLOCK_ENOMEM, "out of memory");
	if (request->limit > 0)
		snprintf(limit, sizeof(limit), "%u", request->limit);
	snprintf(node, sizeof(node), "%s-%c%s-", request->owner,
		 request->mode == DLK_SHARED ? 's' : 'x', limit);
	dlki_zk_path(path, a->dir, node);
	t->generation = a->s->generation;
	t->indeterminate = 1;
	calls[0] = dlki_zk_create(a->s, path, data, len,
				  ZOO_EPHEMERAL_SEQUENTIAL);
	free(data);
	if (calls[0])
		calls[0]->then = dlki_zk_directories_joined;
	if (!likely)
		calls[1] = dlki_zk_children(a->s, a->dir);
	dlki_zk_wait(a->s, calls, 3, a->deadline);
	return note_created(a, calls[0]);
}

/*
 * The node and the listing are asked for at once: a session's requests are
 * answered in order, so that our node is in the listing.  Where nobody else is
 * expected, only the node is asked for, and mostly that is enough.  A request
 * with little time left asks for a listing first as well.  That one waits for
 * no disk, and may show that others hold the lock.
 */
int dlki_zk_enqueue(struct zk_attempt *a, struct zk_call **children)
{
	const struct dlk_request *request = &a->t->base.request;
	struct zk_call *calls[3] = { NULL, NULL, NULL };
	int likely = dlki_zk_fastpath_likely(a->s, request->key);
	int rc;

	if (!likely && a->deadline - dlk_now() < ZK_SHORT_NS)
		calls[2] = dlki_zk_children(a->s, a->dir);
	rc = dlki_zk_tokens_ready(a->s, a->deadline, a->err);
	if (rc == 0)
		rc = join_queue(a, calls, likely);
	if ((rc == DLOCK_EUNREACHABLE ||
	     (rc == 0 && calls[1] && !calls[1]->done)) &&
	    queue_has_no_room(a->s, request, a->dir, calls[2]))
		rc = ZK_NO_ROOM;
	dlki_zk_drop(&calls[0], 1);
	dlki_zk_drop(&calls[2], 1);
	if (rc == 0)
		a->uncontended = dlki_zk_fastpath_proven(a->s, a->t) &&
				 a->t->token != 0;
	if (rc == 0 && (a->t->token == 0 || (likely && !a->uncontended)))
		rc = ZK_AGAIN;
	if (rc == 0)
		*children = calls[1];
	else
		dlki_zk_drop(&calls[1], 1);
	return rc;
}
