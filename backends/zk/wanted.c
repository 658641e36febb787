/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A passed or kept claim: the other askers for the lock, and the tokens of the
 * claim's holds.
 *
 * A claim's own token is the worth of the creation of the claim's node.  Time
 * goes on, and the next anchor (tokens.c) is worth the leader's time again.  No
 * node made after the anchor gets a token in between.  So a claim with a node
 * older than the last anchor has these tokens, up to the anchor's own, unless
 * another session's node behind it in the queue was made between the two.  Then
 * the claim has the tokens up to the other node's.  A waiter of the same
 * session that is overtaken so has a larger token in its turn, by another node,
 * at the end of the queue.  So no waiter is overtaken while another session is
 * in the queue: the other session would have its turn then.
 *
 * The client writes no data for a claim, and tells the store no tokens at the
 * release.  So however a claim ends, by a release, a crash, or a deletion of
 * the node or the whole directory, the next claim has a larger token.  And no
 * token is further ahead of the leader's clock than without passing.
 */
#include "backends/zk/call.h"
#include "backends/zk/conn.h"
#include "backends/zk/directory.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"

#include <string.h>

#define MOST_BEHIND 64 /* nodes to read */
#define PLENTY 100000  /* tokens; with as many left there is no need of more */

/* The caller's own; the session is locked. */
struct look {
	struct zk_session *s;
	struct zk_ticket *t;
	dlk_time deadline;
	struct dlk_error *err;
	struct zk_scale scale; /* from before the listing */
	int64_t next; /* the czxid of the first node behind ours that we may not
		       * overtake, 0: no such node, -1: not known */
	int64_t ours; /* of our session's first waiter behind us, or 0 */
	int others;   /* another session's node is there */
};

static int lost(struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ELOST, "the claim does not stand");
}

/* ---- The queue behind us ------------------------------------------------- */

/* A waiter of ours can get another token later: attempt.c. */
static int may_overtake(struct look *l, const struct zk_call *node)
{
	struct zk_watcher *w = dlki_zk_waiter_at(l->s, node->path);

	if (w) {
		w->over = l->t->base.id;
		l->t->overtakes = 1;
		if (l->ours == 0)
			l->ours = node->stat.czxid;
	}
	return w != NULL;
}

static void judge_node(struct look *l, const struct zk_call *node)
{
	if (node && node->rc == ZNONODE)
		return; /* it went meanwhile, without a grant */
	if (!node || node->rc != ZOK) {
		/* The access list forbids the read, or there was no answer. */
		l->others = 1;
		if (l->next == 0)
			l->next = -1;
		return;
	}
	if (node->stat.ephemeralOwner != l->s->conn->id.client.client_id)
		l->others = 1;
	else if (may_overtake(l, node))
		return;
	if (l->next == 0)
		l->next = node->stat.czxid;
}

/* Read the first node, if `at` is another, and the `n` nodes from there on. */
static void read_nodes(struct look *l, const char *dir,
		       const struct zk_participant *p, size_t at, size_t n)
{
	struct zk_call *calls[MOST_BEHIND + 1];
	size_t first = at > 0;

	dlki_zk_queue_ask(l->s, dir, p, first, calls);
	dlki_zk_queue_ask(l->s, dir, p + at, n, calls + first);
	n += first;
	dlki_zk_wait(l->s, calls, n, l->deadline);
	for (size_t i = 0; i < n && l->s->conn; i++)
		judge_node(l, calls[i]);
	dlki_zk_drop(calls, n);
}

/* Mostly two nodes tell: the first, and the first that is no known waiter of
 * ours.  0: they do not. */
static int read_two(struct look *l, const char *dir,
		    const struct zk_participant *p, size_t n)
{
	char path[ZK_PATH_SIZE];
	size_t at = 0;

	for (; at < n; at++) {
		dlki_zk_path(path, dir, p[at].node);
		if (!dlki_zk_waiter_at(l->s, path))
			break;
	}
	if (at == n)
		return 0;
	read_nodes(l, dir, p, at, 1);
	if (l->others && (at == 0 || l->ours != 0))
		return 1;
	l->next = l->ours = 0;
	l->others = 0;
	return 0;
}

static void read_behind(struct look *l, const char *dir,
			const struct zk_participant *p, size_t n)
{
	size_t most = n < MOST_BEHIND ? n : MOST_BEHIND;
	int told = read_two(l, dir, p, most);

	if (!told)
		read_nodes(l, dir, p, 0, most);
	if (!told && n > most) {
		l->others = 1;
		if (l->next == 0)
			l->next = -1;
	}
	if (l->others && l->ours != 0 && l->next >= 0 &&
	    (l->next == 0 || l->ours < l->next))
		l->next = l->ours;
}

static int judge_queue(struct look *l, const struct zk_call *listing)
{
	struct zk_queue queue;
	char dir[ZK_PATH_SIZE];
	size_t at = 0;
	int rc;

	if (listing && listing->rc == ZNONODE)
		return lost(l->err);
	rc = dlki_zk_reason(listing, "listing", l->err);
	if (rc != 0)
		return rc;
	dlki_zk_dir(l->s, &l->t->base.request, dir);
	rc = dlki_zk_queue_from(l->s, &queue, dir, listing, l->deadline,
				l->err);
	if (rc != 0)
		return rc;
	while (at < queue.n && strcmp(queue.v[at].node, l->t->node) != 0)
		at++;
	if (at == queue.n)
		rc = lost(l->err);
	else if (++at < queue.n)
		read_behind(l, dir, queue.v + at, queue.n - at);
	dlki_zk_queue_free(&queue);
	return rc;
}

/* ---- The verb ------------------------------------------------------------ */

static int has_plenty(const struct look *l)
{
	const struct dlk_ticket *t = &l->t->base;
	uint64_t used = t->token_used > t->token ? t->token_used : t->token;

	return dlki_zk_tokens_spare(&l->scale, l->t, 0) >= used + PLENTY;
}

/* The listing comes after the anchor: any node missing there is made after the
 * anchor, if ever. */
static int look_around(struct look *l)
{
	struct zk_raise r = { .calls = { NULL, NULL } };
	struct zk_call *calls[3] = { NULL, NULL, NULL };
	int rc = 0, raise;

	l->scale = dlki_zk_tokens_scale(l->s);
	raise = !has_plenty(l);
	if (raise)
		dlki_zk_tokens_raise(l->s, &r);
	calls[0] = r.calls[0];
	calls[1] = r.calls[1];
	calls[2] = dlki_zk_directory_watch(l->s, l->t);
	dlki_zk_wait(l->s, calls, 3, l->deadline);
	if (raise)
		rc = dlki_zk_tokens_raised(l->s, &r, &l->scale, l->err);
	if (rc == 0)
		rc = judge_queue(l, calls[2]);
	dlki_zk_drop(&calls[2], 1);
	return rc;
}

static void set_aside(const struct look *l)
{
	struct dlk_ticket *t = &l->t->base;
	uint64_t last = l->next < 0 ?
				0 :
				dlki_zk_tokens_spare(&l->scale, l->t, l->next);

	if (t->token_last < t->token)
		t->token_last = t->token;
	if (t->token_last < last)
		t->token_last = last;
}

/* Of a permit: for revokes alone. */
static int watch_permit(struct look *l)
{
	struct zk_call *call = dlki_zk_revokes_watch(l->s, l->t);
	int rc = 0;

	dlki_zk_wait(l->s, &call, 1, l->deadline);
	if (!call || call->rc != ZNONODE)
		rc = dlki_zk_reason(call, "watching", l->err);
	dlki_zk_drop(&call, 1);
	return rc;
}

static int watch(struct look *l)
{
	uint64_t connects = l->s->connects;
	int rc;

	if (!l->t->granted || l->t->generation != l->s->generation ||
	    (l->t->own && l->t->own->fired == ZK_GONE))
		return lost(l->err);
	if (l->t->base.request.kind == DLK_SEMAPHORE)
		return watch_permit(l);
	rc = dlki_zk_tokens_known(l->s, l->deadline, l->err);
	if (rc == 0)
		rc = look_around(l);
	if (rc == 0 && (l->s->connects != connects || !dlki_zk_is_up(l->s)))
		rc = dlk_fail(l->err, DLOCK_EUNREACHABLE,
			      "the connection was lost");
	if (rc != 0)
		return rc;
	set_aside(l);
	return l->others;
}

int dlki_zk_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			 struct dlk_error *err)
{
	struct zk_session *s = dlki_zk_session_of(base->session);
	struct look l = {
		.s = s,
		.t = (struct zk_ticket *)base,
		.deadline = deadline,
		.err = err,
	};
	int rc = dlki_zk_enter(s, deadline, err);

	if (rc != 0)
		return rc;
	rc = watch(&l);
	dlki_zk_leave(s);
	return rc;
}
