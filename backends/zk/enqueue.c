/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/attempt.h"
#include "backends/zk/call.h"
#include "backends/zk/data.h"
#include "backends/zk/fastpath.h"
#include "backends/zk/orphans.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"
#include "backends/zk/tries.h"
#include "core/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE, LISTING, DIRECTORY, REQUESTS };

/* dlock_list() reports the directory's data. */
static struct zk_call *make_directory(struct zk_attempt *a)
{
	const struct dlk_request *request = &a->t->base.request;
	char data[300];

	snprintf(data, sizeof(data), "%u %s", request->limit, request->name);
	return dlki_zk_create(a->s, a->dir, data, strlen(data), ZOO_CONTAINER);
}

/* The node could not be made without a directory, nor the directory without the
 * base, which has the node of the tokens and goes with it. */
static int judge_directory(struct zk_attempt *a,
			   const struct zk_call *directory)
{
	int asked = a->no_dir;

	a->no_dir = 1;
	if (!asked || (directory && (directory->rc == ZNONODE ||
				     directory->rc == ZNODEEXISTS)))
		return ZK_AGAIN;
	if (directory && directory->rc == ZOK)
		return ZK_AGAIN; /* reaped meanwhile */
	return dlki_zk_reason(directory, "making", a->err);
}

/* Take note of the answers.  Without an answer, the node may have been made. */
static int note_created(struct zk_attempt *a,
			struct zk_call *const calls[REQUESTS])
{
	const struct zk_call *create = calls[NODE];
	struct zk_ticket *t = a->t;

	if (create && create->rc == ZOK) {
		memcpy(t->node, create->node, sizeof(t->node));
		t->czxid = create->stat.czxid;
		t->indeterminate = 0;
		a->no_dir = 0;
		dlki_zk_tokens_tell(a->s, t, create->stat.ctime);
		return 0;
	}
	if (!create || create->rc <= ZAPIERROR)
		t->indeterminate = create && (create->rc == ZSESSIONEXPIRED ||
					      create->rc == ZSESSIONMOVED ||
					      create->rc == ZCLOSING);
	if (create && create->rc == ZNONODE)
		return judge_directory(a, calls[DIRECTORY]);
	return dlki_zk_reason(create, "joining the wait queue", a->err);
}

/* Ask for the node, for a missing directory, and for the listing unless
 * `likely` alone. */
static int join_queue(struct zk_attempt *a, struct zk_call *calls[REQUESTS],
		      int likely)
{
	struct zk_ticket *t = a->t;
	const struct dlk_request *request = &t->base.request;
	char path[ZK_PATH_SIZE], limit[24] = "", node[ZK_NODE_SIZE], *data;
	size_t len;

	t->above = dlki_zk_tokens_above(a->s);
	t->as_try = t->base.last && !likely;
	t->carries = 0;
	data = dlki_zk_data_new(t, &len);
	if (!t->room)
		t->room = dlki_zk_orphan_new();
	if (!data || !t->room) {
		free(data);
		return dlki_nomem(a->err);
	}
	if (request->beside)
		snprintf(limit, sizeof(limit), "0*%u",
			 dlki_zk_beside(request->beside));
	else if (request->permits > 1)
		snprintf(limit, sizeof(limit), "%u*%u", request->limit,
			 request->permits);
	else if (request->limit > 0)
		snprintf(limit, sizeof(limit), "%u", request->limit);
	snprintf(node, sizeof(node), "%s-%c%s-", request->owner,
		 request->mode == DLK_SHARED ? 's' : 'x', limit);
	dlki_zk_path(path, a->dir, node);
	t->generation = a->s->generation;
	t->indeterminate = 1;
	if (a->no_dir)
		calls[DIRECTORY] = make_directory(a);
	calls[NODE] = dlki_zk_create(a->s, path, data, len,
				     ZOO_EPHEMERAL_SEQUENTIAL);
	free(data);
	if (calls[NODE])
		calls[NODE]->then = dlki_zk_directories_joined;
	if (!likely)
		calls[LISTING] = dlki_zk_children(a->s, a->dir);
	dlki_zk_wait(a->s, calls, REQUESTS, a->deadline);
	return note_created(a, calls);
}

/*
 * The node and the listing are asked for at once: a session's requests are
 * answered in order, so our node is in the listing.  If no other client is
 * expected, we ask only for the node, and mostly the node is enough.  A request
 * with little time left also looks at the queue first.  The look waits for no
 * disk, and may show that others hold the lock.
 */
int dlki_zk_enqueue(struct zk_attempt *a, struct zk_call **children)
{
	struct zk_call *calls[REQUESTS] = { NULL, NULL, NULL };
	int likely = dlki_zk_fastpath_likely(a->s, a->t->base.request.key);
	dlk_time began = dlk_now();
	int rc = 0;

	if (!likely && a->had < ZK_SHORT_NS)
		rc = dlki_zk_tries_look(a);
	if (rc == 0)
		rc = dlki_zk_tokens_ready(a->s, a->deadline, a->err);
	if (rc == 0) {
		dlki_zk_tries_prepared(a, began);
		began = dlk_now();
		rc = join_queue(a, calls, likely);
	}
	if (a->held[0] &&
	    (rc == DLOCK_EUNREACHABLE ||
	     (rc == 0 && calls[LISTING] && !calls[LISTING]->done))) {
		rc = ZK_NO_ROOM;
		a->err->code = 0;
	}
	dlki_zk_drop(&calls[NODE], 1);
	dlki_zk_drop(&calls[DIRECTORY], 1);
	if (rc == 0)
		a->uncontended = dlki_zk_fastpath_proven(a->s, a->t) &&
				 a->t->token != 0;
	if (rc == 0 && (a->t->token == 0 || (likely && !a->uncontended)))
		rc = ZK_AGAIN;
	if (rc == ZK_AGAIN)
		dlki_zk_tries_prepared(a, began);
	if (rc == 0)
		*children = calls[LISTING];
	else
		dlki_zk_drop(&calls[LISTING], 1);
	return rc;
}
