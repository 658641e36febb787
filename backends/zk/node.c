/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/node.h"
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/fastpath.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <string.h>

#define MOST_OWN 8 /* nodes of a single request at once */

/* Is it a node of our present session?  The server removes the nodes of earlier
 * sessions. */
static int is_ours(struct zk_session *s, const char *path, dlk_time deadline,
		   int64_t *czxid, struct dlk_error *err)
{
	struct zk_call *call = dlki_zk_get(s, path);
	int rc;

	dlki_zk_wait(s, &call, 1, deadline);
	if (call && call->rc == ZNONODE) {
		dlki_zk_drop(&call, 1);
		return 0;
	}
	rc = dlki_zk_reason(call, "reading our node", err);
	if (rc == 0) {
		*czxid = call->stat.czxid;
		rc = s->conn &&
		     call->stat.ephemeralOwner == s->conn->id.client.client_id;
	}
	dlki_zk_drop(&call, 1);
	return rc;
}

/*
 * The server of this connection may be behind the server that took our request.
 * The sync brings it up to date before it lists.
 */
static int list_synced(struct zk_session *s, const char *dir, dlk_time deadline,
		       struct zk_call **children, struct dlk_error *err)
{
	struct zk_call *calls[2] = { dlki_zk_sync(s, dir),
				     dlki_zk_children(s, dir) };
	int rc;

	dlki_zk_wait(s, calls, 2, deadline);
	rc = dlki_zk_reason(calls[0], "sync", err);
	if (rc == 0 && !(calls[1] && calls[1]->rc == ZNONODE))
		rc = dlki_zk_reason(calls[1], "listing our nodes", err);
	dlki_zk_drop(&calls[0], 1);
	if (rc == 0)
		*children = calls[1];
	else
		dlki_zk_drop(&calls[1], 1);
	return rc;
}

int dlki_zk_node_recover(struct zk_session *s, struct zk_ticket *t,
			 const char *dir, dlk_time deadline,
			 struct dlk_error *err)
{
	const char *owner = t->base.request.owner;
	struct zk_call *children;
	struct zk_participant p;
	char path[ZK_PATH_SIZE];
	int rc = list_synced(s, dir, deadline, &children, err);

	if (rc != 0)
		return rc;
	for (size_t i = 0; i < children->n && rc == 0; i++) {
		const char *node = children->names[i];

		if (!dlki_zk_parse(node, &p) ||
		    strncmp(node, owner, strlen(owner)) != 0)
			continue;
		dlki_zk_path(path, dir, node);
		rc = is_ours(s, path, deadline, &t->czxid, err);
		if (rc > 0) {
			memcpy(t->node, node, strlen(node) + 1);
			t->token = 0;
			rc = 0;
			break;
		}
	}
	dlki_zk_drop(&children, 1);
	if (rc == 0)
		t->indeterminate = 0;
	return rc;
}

static int delete_node(struct zk_session *s, struct zk_ticket *t,
		       const char *dir, dlk_time deadline,
		       struct dlk_error *err)
{
	struct zk_call *call;
	char path[ZK_PATH_SIZE];
	int rc = 0;

	dlki_zk_path(path, dir, t->node);
	call = dlki_zk_delete(s, path);
	dlki_zk_wait(s, &call, 1, deadline);
	if (call && call->rc == ZOK)
		dlki_zk_fastpath_deleted(s, t);
	if (call && call->rc == ZNONODE)
		t->missing = 1;
	if (!call || call->rc != ZNONODE)
		rc = dlki_zk_reason(call, "deleting our node", err);
	dlki_zk_drop(&call, 1);
	if (rc == 0)
		t->node[0] = '\0';
	return rc;
}

/* The server removes the nodes of an ended session. */
int dlki_zk_node_delete(struct zk_session *s, struct zk_ticket *t,
			dlk_time deadline, struct dlk_error *err)
{
	char dir[ZK_PATH_SIZE];
	int rc = 0;

	dlki_zk_dir(s, &t->base.request, dir);
	for (int i = 0; i < MOST_OWN && rc == 0; i++) {
		if (!dlki_zk_is_up(s))
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"the connection was lost");
		if (t->generation != s->generation) {
			t->node[0] = '\0';
			t->indeterminate = 0;
		}
		if (t->node[0])
			rc = delete_node(s, t, dir, deadline, err);
		else if (t->indeterminate)
			rc = dlki_zk_node_recover(s, t, dir, deadline, err);
		else
			break;
	}
	return rc;
}
