/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/call.h"
#include "backends/zk/fastpath.h"
#include "backends/zk/node.h"
#include "backends/zk/orphans.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <stdlib.h>
#include <string.h>

#define BATCH 128 /* deletions under way at once */

/* ---- A claim ------------------------------------------------------------- */

static void forget_watches(struct zk_session *s, struct zk_ticket *t)
{
	dlki_zk_directory_drop(s, t);
	if (t->overtakes)
		dlki_zk_waiters_settle(s, t->base.id, t->base.token_used);
	t->overtakes = 0;
	dlki_zk_unwatch_ahead(s, t);
	dlki_zk_unwatch(s, t->own);
	t->own = NULL;
	dlki_zk_unwatch(s, t->revokes);
	t->revokes = NULL;
}

static void free_room(struct zk_ticket *t)
{
	free(t->room);
	t->room = NULL;
}

/* A node missing at the first deletion was deleted by another client. */
int dlki_zk_release(struct dlk_ticket *base, dlk_time deadline,
		    struct dlk_error *err)
{
	struct zk_ticket *t = (struct zk_ticket *)base;
	struct zk_session *s = dlki_zk_session_of(base->session);
	int granted = t->granted;
	int rc = 0;

	t->granted = 0;
	t->missing = 0;
	pthread_mutex_lock(&s->mu);
	forget_watches(s, t);
	dlki_zk_leave(s);
	if (!t->node[0] && !t->indeterminate) {
		free_room(t);
		return 0;
	}
	rc = dlki_zk_enter(s, deadline, err);
	if (rc == 0)
		rc = dlki_zk_node_delete(s, t, deadline, err);
	else
		pthread_mutex_lock(&s->mu);
	if (rc == 0)
		dlki_zk_orphans_remove(s, base->request.owner);
	else if (s->generation == t->generation)
		dlki_zk_orphans_add(s, t);
	free_room(t);
	dlki_zk_leave(s);
	if (rc == 0 && granted && t->missing)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return rc;
}

/* ---- Without waiting for the answer -------------------------------------- */

/* The path ends in /key/node. */
static void expect_to_list(struct zk_session *s, const char *path)
{
	const char *end = strrchr(path, '/');
	const char *key = end;

	while (key > path && key[-1] != '/')
		key--;
	dlki_zk_fastpath_stays(s, key, (size_t)(end - key));
}

/* The `then` of the deletion. */
static void release_answered(struct zk_session *s, struct zk_call *call)
{
	int rc = dlki_zk_reason(call, "deleting our node", NULL);

	if (call->rc == ZNONODE) {
		rc = DLOCK_ELOST;
	} else if (rc != 0) {
		expect_to_list(s, call->path);
		dlki_zk_orphans_put(s, call->room);
		call->room = NULL;
	}
	if (s->core)
		dlk_released(s->core, call->ticket, rc);
}

/* Requests of a session are carried out in order, so the session's next node in
 * this queue comes after this node has gone. */
static int send_deletion(struct zk_session *s, struct zk_ticket *t)
{
	char dir[ZK_PATH_SIZE], path[ZK_PATH_SIZE];
	struct zk_call *call;
	int sent;

	dlki_zk_dir(s, &t->base.request, dir);
	dlki_zk_path(path, dir, t->node);
	dlki_zk_fastpath_deleted(s, t);
	call = dlki_zk_delete(s, path);
	sent = call && !call->done;
	if (sent) {
		call->then = release_answered;
		call->ticket = t->base.id;
		dlki_zk_orphan_set(t->room, t);
		call->room = t->room;
		t->room = NULL;
	} else {
		expect_to_list(s, path);
	}
	dlki_zk_drop(&call, 1);
	return sent;
}

int dlki_zk_release_begin(struct dlk_ticket *base, dlk_time deadline,
			  struct dlk_error *err)
{
	struct zk_ticket *t = (struct zk_ticket *)base;
	struct zk_session *s = dlki_zk_session_of(base->session);
	int sent = 0;

	pthread_mutex_lock(&s->mu);
	if (t->granted && t->node[0] && t->generation == s->generation &&
	    dlki_zk_is_up(s)) {
		forget_watches(s, t);
		sent = send_deletion(s, t);
		t->granted = !sent;
	}
	dlki_zk_leave(s);
	return sent ? DLK_SENT : dlki_zk_release(base, deadline, err);
}

/* ---- All ----------------------------------------------------------------- */

/* Delete up to BATCH nodes from `*at` on.  0: no use to go on. */
static int delete_batch(struct zk_session *s, struct dlk_ticket *const t[],
			size_t n, size_t *at, dlk_time deadline)
{
	struct zk_call *calls[BATCH] = { NULL };
	char dir[ZK_PATH_SIZE], path[ZK_PATH_SIZE];
	size_t asked = 0;
	int answered = 1;

	for (; *at < n && asked < BATCH; ++*at) {
		const struct zk_ticket *ours = (struct zk_ticket *)t[*at];

		if (!ours->node[0] || ours->generation != s->generation)
			continue;
		dlki_zk_dir(s, &ours->base.request, dir);
		dlki_zk_path(path, dir, ours->node);
		calls[asked++] = dlki_zk_delete(s, path);
	}
	dlki_zk_wait(s, calls, asked, deadline);
	for (size_t i = 0; i < asked; i++)
		answered &= calls[i] && calls[i]->done;
	dlki_zk_drop(calls, asked);
	return answered && dlki_zk_is_up(s);
}

/*
 * The end of the session, which comes next, removes every node.  But the client
 * library does not wait for the end, so we delete as many nodes as we can in
 * half of the time.
 */
void dlki_zk_release_all(struct dlk_session *base, struct dlk_ticket *const t[],
			 size_t n, dlk_time deadline)
{
	struct zk_session *s = dlki_zk_session_of(base);
	dlk_time half = deadline - (deadline - dlk_now()) / 2;
	size_t at = 0;

	pthread_mutex_lock(&s->mu);
	for (size_t i = 0; i < n; i++) {
		forget_watches(s, (struct zk_ticket *)t[i]);
		free_room((struct zk_ticket *)t[i]);
	}
	dlki_zk_leave(s);
	if (dlki_zk_enter(s, half, NULL) != 0)
		return;
	while (at < n && dlk_now() < half &&
	       delete_batch(s, t, n, &at, half) != 0)
		continue;
	dlki_zk_leave(s);
}
