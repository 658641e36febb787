/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A revoke makes a node in the lock's directory, not a request's node, and
 * deletes it.  Each session that watches the directory for a claim takes the
 * node for another session's request (directory.c), also the session that made
 * it.
 */
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/orphans.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The node goes with the session, which may last for long. */
static void delete_later(struct zk_session *s, struct zk_orphan *o,
			 const struct dlk_request *request, const char *node)
{
	struct zk_ticket t = { .generation = s->generation };
	char owner[ZK_OWNER_SIZE];

	memcpy(t.node, node, strlen(node) + 1);
	snprintf(owner, sizeof(owner), "%.32s", node);
	t.base.request.key = request->key;
	t.base.request.owner = owner;
	dlki_zk_orphan_set(o, &t);
	dlki_zk_orphans_put(s, o);
}

/* Memory to remember the node comes before the node. */
static int revoke(struct zk_session *s, const struct dlk_request *request,
		  dlk_time deadline, struct dlk_error *err)
{
	uint64_t generation = s->generation;
	char dir[ZK_PATH_SIZE], path[ZK_PATH_SIZE], node[33];
	struct zk_orphan *orphan = dlki_zk_orphan_new();
	struct zk_call *calls[2];
	int rc, gone;

	if (!orphan)
		return dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	dlki_zk_dir(s, request, dir);
	snprintf(node, sizeof(node), "r-%016" PRIx64 "-%08" PRIx32,
		 (uint64_t)s->conn->id.client.client_id, ++s->revokes);
	dlki_zk_path(path, dir, node);
	calls[0] = dlki_zk_create(s, path, "", 0, ZOO_EPHEMERAL);
	calls[1] = dlki_zk_delete(s, path);
	dlki_zk_wait(s, calls, 2, deadline);
	rc = calls[0] && calls[0]->rc == ZNONODE ?
		     0 : /* the lock was never used, or is free */
		     dlki_zk_reason(calls[0], "revoking", err);
	gone = calls[1] && (calls[1]->rc == ZOK || calls[1]->rc == ZNONODE);
	if (!gone && s->generation == generation)
		delete_later(s, orphan, request, node);
	else
		free(orphan);
	dlki_zk_drop(calls, 2);
	return rc;
}

int dlki_zk_revoke(struct dlk_session *base, const struct dlk_request *request,
		   dlk_time deadline, struct dlk_error *err)
{
	struct zk_session *s = dlki_zk_session_of(base);
	int rc = dlki_zk_enter(s, deadline, err);

	if (rc != 0)
		return rc;
	rc = revoke(s, request, deadline, err);
	dlki_zk_leave(s);
	return rc;
}
