/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"

#include <string.h>

#define MOST_OWN 8 /* nodes of one request that can be seen at once */

/* Node of the session that stands?  The server removes those of others. */
static int ours(struct zk_hub *h, const char *path, dlk_time deadline,
		int64_t *czxid, struct dlk_error *err)
{
	struct zk_call *call = dlki_zk_get(h, path);
	int rc;

	dlki_zk_wait(h, &call, 1, deadline);
	if (call && call->rc == ZNONODE) {
		dlki_zk_drop(&call, 1);
		return 0;
	}
	rc = dlki_zk_reason(call, "looking at our node", err);
	if (rc == 0) {
		*czxid = call->stat.czxid;
		rc = h->link && call->stat.ephemeralOwner == h->link->id;
	}
	dlki_zk_drop(&call, 1);
	return rc;
}

/*
 * A server that we have been moved to may be behind the one that took our
 * request: the sync brings it up to date before it answers.
 */
static int list_synced(struct zk_hub *h, const char *dir, dlk_time deadline,
		       struct zk_call **children, struct dlk_error *err)
{
	struct zk_call *calls[2] = { dlki_zk_sync(h, dir),
				     dlki_zk_children(h, dir) };
	int rc;

	dlki_zk_wait(h, calls, 2, deadline);
	rc = dlki_zk_reason(calls[0], "sync", err);
	if (rc == 0 && !(calls[1] && calls[1]->rc == ZNONODE))
		rc = dlki_zk_reason(calls[1], "looking for our node", err);
	dlki_zk_drop(&calls[0], 1);
	if (rc == 0)
		*children = calls[1];
	else
		dlki_zk_drop(&calls[1], 1);
	return rc;
}

int dlki_zk_recover(struct zk_hub *h, struct zk_ticket *t, const char *dir,
		    dlk_time deadline, struct dlk_error *err)
{
	const char *owner = t->base.claim.owner;
	struct zk_call *children;
	struct zk_party party;
	char path[ZK_PATH_SIZE];
	int rc = list_synced(h, dir, deadline, &children, err);

	if (rc != 0)
		return rc;
	for (size_t i = 0; i < children->n && rc == 0; i++) {
		const char *node = children->names[i];

		if (!dlki_zk_parse(node, &party) ||
		    strncmp(node, owner, strlen(owner)) != 0)
			continue;
		dlki_zk_path(path, dir, node);
		rc = ours(h, path, deadline, &t->czxid, err);
		if (rc > 0) {
			memcpy(t->node, node, strlen(node) + 1);
			rc = 0;
			break;
		}
	}
	dlki_zk_drop(&children, 1);
	if (rc == 0)
		t->asked = 0;
	return rc;
}

static int delete_node(struct zk_hub *h, struct zk_ticket *t, const char *dir,
		       dlk_time deadline, struct dlk_error *err)
{
	struct zk_call *call;
	char path[ZK_PATH_SIZE];
	int rc = 0;

	dlki_zk_path(path, dir, t->node);
	call = dlki_zk_delete(h, path);
	dlki_zk_wait(h, &call, 1, deadline);
	if (call && call->rc == ZOK)
		dlki_zk_alone_left(h, t);
	if (call && call->rc == ZNONODE)
		t->missing = 1;
	if (!call || call->rc != ZNONODE)
		rc = dlki_zk_reason(call, "giving up our place", err);
	dlki_zk_drop(&call, 1);
	if (rc == 0)
		t->node[0] = '\0';
	return rc;
}

/* The nodes of a session that has ended are the server's to remove. */
int dlki_zk_give_up(struct zk_hub *h, struct zk_ticket *t, dlk_time deadline,
		    struct dlk_error *err)
{
	char dir[ZK_PATH_SIZE];
	int rc = 0;

	dlki_zk_dir(h, &t->base.claim, dir);
	for (int i = 0; i < MOST_OWN && rc == 0; i++) {
		if (!h->link || h->link->state != ZK_UP)
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"the connection was lost");
		if (t->life != h->link->life) {
			t->node[0] = '\0';
			t->asked = 0;
		}
		if (t->node[0])
			rc = delete_node(h, t, dir, deadline, err);
		else if (t->asked)
			rc = dlki_zk_recover(h, t, dir, deadline, err);
		else
			break;
	}
	return rc;
}

/* What is missing when its deletion is asked for the first time was not deleted
 * by us. */
int dlki_zk_release(struct dlk_ticket *base, dlk_time deadline,
		    struct dlk_error *err)
{
	struct zk_ticket *t = (struct zk_ticket *)base;
	struct zk_hub *h = ((struct zk_session *)base->session)->hub;
	int granted = t->granted;
	int rc = 0;

	t->granted = 0;
	t->missing = 0;
	pthread_mutex_lock(&h->mu);
	dlki_zk_unwatch_ahead(h, t);
	dlki_zk_unwatch(h, t->own);
	t->own = NULL;
	dlki_zk_leave(h);
	if (!t->node[0] && !t->asked)
		return 0;
	rc = dlki_zk_enter(h, deadline, err);
	if (rc == 0)
		rc = dlki_zk_give_up(h, t, deadline, err);
	else
		pthread_mutex_lock(&h->mu);
	if (rc == 0)
		dlki_zk_debris_gone(h, base->claim.owner);
	else if (h->link && h->link->life == t->life)
		dlki_zk_debris_add(h, t);
	dlki_zk_leave(h);
	if (rc == 0 && granted && t->missing)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return rc;
}
