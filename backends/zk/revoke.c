/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A revoke makes a node in the lock's directory, not a request's node, and
 * deletes it, in a transaction.  Each session that watches the directory for a
 * claim takes the node for another session's request (directory.c), also the
 * maker of the node.  The holders of permits watch for this node alone
 * (watch.c): changes of the directory would tell them of each waiter.
 */
#include "backends/zk/call.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

/* Make and delete the node.  `there`: first delete a node made by hand. */
static struct zk_call *pulse(struct zk_session *s, const char *path, int there,
			     dlk_time deadline)
{
	struct zk_call *call;
	zoo_op_t ops[3];

	zoo_delete_op_init(&ops[0], path, -1);
	zoo_create_op_init(&ops[1], path, "", 0, &ZOO_OPEN_ACL_UNSAFE,
			   ZOO_EPHEMERAL, NULL, 0);
	zoo_delete_op_init(&ops[2], path, -1);
	call = dlki_zk_multi(s, path, there ? ops : ops + 1, there ? 3 : 2);
	dlki_zk_wait(s, &call, 1, deadline);
	return call;
}

static int revoke(struct zk_session *s, const struct dlk_request *request,
		  dlk_time deadline, struct dlk_error *err)
{
	char dir[ZK_PATH_SIZE], path[ZK_PATH_SIZE];
	struct zk_call *call;
	int rc = 0;

	dlki_zk_dir(s, request, dir);
	dlki_zk_path(path, dir, ZK_REVOKE_NODE);
	call = pulse(s, path, 0, deadline);
	if (call && call->rc == ZNODEEXISTS) {
		dlki_zk_drop(&call, 1);
		call = pulse(s, path, 1, deadline);
	}
	/* Without a directory the lock was never used, or is free. */
	if (!call || call->rc != ZNONODE)
		rc = dlki_zk_reason(call, "revoking", err);
	dlki_zk_drop(&call, 1);
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
