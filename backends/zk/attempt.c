/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/attempt.h"
#include "backends/zk/call.h"
#include "backends/zk/data.h"
#include "backends/zk/fastpath.h"
#include "backends/zk/listing.h"
#include "backends/zk/node.h"
#include "backends/zk/poll.h"
#include "backends/zk/position.h"
#include "backends/zk/probe.h"
#include "backends/zk/queue.h"
#include "backends/zk/session.h"
#include "backends/zk/tries.h"
#include "backends/zk/upgrade.h"
#include "core/base/error.h"

#include <string.h>

#define LOOK_NS (100 * DLK_MS)
#define TRIES 8 /* the directory may be reaped between any two requests */

/*
 * A grant without a write rests on the last write.  If the last write was some
 * time ago, the lease is handed over short, and the core renews it while the
 * caller goes on.  If the last write was long ago, we write again.
 */
static struct zk_call *prove_unless_fresh(struct zk_attempt *a)
{
	a->proven = dlki_zk_lease_fresh(a->s, 4);
	return a->proven ? NULL : dlki_zk_proof(a->s);
}

static int list_queue(struct zk_attempt *a, struct zk_call **children)
{
	struct zk_call *calls[2] = { NULL, NULL };
	int rc = 0;

	a->proven = 0;
	calls[0] = prove_unless_fresh(a);
	if (children)
		calls[1] = dlki_zk_children(a->s, a->dir);
	dlki_zk_wait(a->s, calls, 2, a->deadline);
	if (!a->proven)
		rc = dlki_zk_proven(calls[0], a->err);
	dlki_zk_drop(&calls[0], 1);
	if (rc == 0 && children)
		*children = calls[1];
	else
		dlki_zk_drop(&calls[1], 1);
	return rc;
}

/* ---- Judgement ----------------------------------------------------------- */

/* The end of the node is no news from now on. */
static void forget_token(struct zk_attempt *a)
{
	a->t->token = 0;
	dlki_zk_unwatch(a->s, a->t->own);
	a->t->own = NULL;
}

static void forget_node(struct zk_attempt *a)
{
	a->t->node[0] = '\0';
	a->t->overtaken = 0;
	forget_token(a);
}

/* A passed claim of this session has used larger tokens. */
static int is_overtaken(const struct zk_ticket *t)
{
	return t->own && (t->own->over != 0 || t->own->used >= t->token);
}

/* Behind slow round trips the last evidence is old.  Each write brings more. */
static int await_evidence(struct zk_attempt *a)
{
	dlk_time pause = dlki_zk_tick_ns(a->s) / 4;

	while (!dlki_zk_lease_suffices(a->s, &a->t->base, a->err)) {
		dlk_time next = dlk_now() + pause;

		if (a->err->code != DLOCK_EUNREACHABLE ||
		    !dlki_zk_is_up(a->s) || next >= a->deadline ||
		    !dlki_zk_sleep(&a->s->changed, a->s, next))
			return -1;
		(void)list_queue(a, NULL);
	}
	a->err->code = 0; /* of an earlier round */
	return 0;
}

static enum dlk_verdict grant_lock(struct zk_attempt *a)
{
	struct zk_ticket *t = a->t;

	if (await_evidence(a) != 0 ||
	    dlki_zk_watch_own(a->s, t, a->dir, 1, a->err) != 0)
		return DLK_FAILED;
	if (t->as_try) {
		t->as_try = 0;
		dlki_zk_data_write(a->s, t);
	}
	dlki_zk_lease_tell(a->s, &t->base);
	dlki_zk_probe_granted(a->s, &t->base);
	t->base.token = t->token;
	t->granted = 1;
	return DLK_GRANTED;
}

/* 0 with a verdict, or ZK_AGAIN: our node is gone, or is of no use.  ZK_LATER:
 * other tries are in the way. */
static int judge_listing(struct zk_attempt *a, const struct zk_call *children,
			 enum dlk_verdict *verdict)
{
	struct zk_ticket *t = a->t;
	struct zk_queue queue;
	size_t ahead = 0;
	int rc = 0;

	if (children->rc == ZNONODE) {
		forget_node(a);
		return ZK_AGAIN;
	}
	*verdict = DLK_FAILED;
	if (dlki_zk_reason(children, "listing", a->err) != 0)
		return 0;
	rc = dlki_zk_listing_queue(a->s, &queue, a->dir, children, a->deadline,
				   a->err);
	if (rc != 0)
		return rc > 0 ? ZK_LATER : 0;
	while (ahead < queue.n && strcmp(queue.v[ahead].node, t->node) != 0)
		ahead++;
	if (ahead == queue.n) {
		forget_node(a);
		dlki_zk_queue_free(&queue);
		return ZK_AGAIN;
	}
	if (queue.n == 1 && a->connects == a->s->connects)
		dlki_zk_fastpath_learn(a->s, t);
	if (t->base.request.beside)
		rc = dlki_zk_upgrade_advance(a, &queue, &ahead);
	if (rc == 0)
		rc = dlki_zk_position_judge(a, &queue, ahead, verdict);
	if (*verdict == DLK_BUSY && dlki_zk_tries_await(a, &queue, ahead))
		rc = ZK_LATER;
	dlki_zk_queue_free(&queue);
	if (rc != 0 || *verdict != DLK_GRANTED)
		return rc == ZK_LATER ? rc : 0;
	if (is_overtaken(t)) {
		t->overtaken = 1;
		forget_token(a);
		return ZK_AGAIN;
	}
	*verdict = grant_lock(a);
	return 0;
}

/* A node without a known token makes room for another node, and so does a node
 * that was overtaken: another node has a larger token. */
static int settle_token(struct zk_attempt *a)
{
	dlk_time began = dlk_now();
	int rc = 0;

	if (!a->t->overtaken)
		rc = dlki_zk_tokens_settle(a->s, a->t, a->deadline, a->err);
	dlki_zk_tries_prepared(a, began);
	if (rc != 0 || a->t->token != 0)
		return rc;
	rc = dlki_zk_node_delete(a->s, a->t, a->deadline, a->err);
	if (rc == 0)
		forget_node(a);
	return rc;
}

static enum dlk_verdict attempt_rounds(struct zk_attempt *a)
{
	struct zk_ticket *t = a->t;
	enum dlk_verdict verdict = DLK_FAILED;
	struct zk_call *children;

	for (int i = 0; i < TRIES; i++) {
		int rc;

		if (!t->node[0] && t->indeterminate &&
		    dlki_zk_node_recover(a->s, t, a->dir, a->deadline,
					 a->err) != 0)
			return DLK_FAILED;
		if (t->node[0] && t->token == 0 && settle_token(a) != 0)
			return DLK_FAILED;
		/* The connection may have gone while we waited. */
		if (!dlki_zk_is_up(a->s))
			break;
		rc = t->node[0] ? list_queue(a, &children) :
				  dlki_zk_enqueue(a, &children);
		if (rc == ZK_AGAIN)
			continue;
		if (rc == ZK_NO_ROOM) {
			t->base.look_again = dlk_now() + ZK_SHORT_NS / 4;
			return DLK_BUSY;
		}
		if (rc != 0)
			return DLK_FAILED;
		if (a->uncontended) {
			dlki_zk_drop(&children, 1);
			return grant_lock(a);
		}
		if (!children) {
			dlki_nomem(a->err);
			return DLK_FAILED;
		}
		rc = judge_listing(a, children, &verdict);
		dlki_zk_drop(&children, 1);
		if (rc == 0)
			return verdict;
		if (rc == ZK_LATER)
			i--; /* which ends by itself */
	}
	dlk_fail(a->err, DLOCK_EUNREACHABLE,
		 "the connection was lost, or nodes vanish as they are made");
	return DLK_FAILED;
}

/*
 * The only node ahead has gone.  We need not list again if our own node was
 * there at that time; if another client had deleted our node, the next
 * participant would wait for the same node as we do.  A server reports
 * deletions in order, so an unfired watch on our node proves that the node was
 * there.  No user may close the node to us, which would end the reports.  Over
 * another connection, a watch that stands has been set again: the node is there
 * still, by a server that has caught up (conn.c), and no node comes back.
 */
static int is_next_by_watch(const struct zk_ticket *t)
{
	/* With a smaller number of permits, the request may want too many. */
	for (const struct zk_watcher *w = t->ahead; w; w = w->more) {
		if (w != t->sole && !dlki_zk_watch_stands(w))
			return 0;
	}
	return t->node[0] && t->token != 0 && dlki_zk_watch_stands(t->own) &&
	       !is_overtaken(t) && t->sole && t->sole->fired == ZK_GONE;
}

/* The node ahead without a right to read.  Without such a node, `out` is
 * unchanged. */
static void hidden_node(const struct zk_ticket *t, char out[ZK_NODE_SIZE])
{
	for (const struct zk_watcher *w = t->ahead; w; w = w->more) {
		const char *node = strrchr(w->path, '/') + 1;

		if (w->fired == ZK_HIDDEN && strlen(node) < ZK_NODE_SIZE)
			memcpy(out, node, strlen(node) + 1);
	}
}

/* Keep some of the time to find out why there is no connection. */
static int enter(struct zk_attempt *a)
{
	const struct dlk_ticket *t = &a->t->base;
	dlk_time look = (a->deadline - dlk_now()) / 4;
	int rc;

	if (look > LOOK_NS)
		look = LOOK_NS;
	rc = dlki_zk_enter(a->s, a->deadline - look, a->err);
	if (rc == DLOCK_EUNREACHABLE)
		dlki_zk_hosts_why(a->s, t->session->uri, a->deadline, a->err);
	return rc;
}

enum dlk_verdict dlki_zk_attempt(struct dlk_ticket *base, dlk_time deadline,
				 struct dlk_error *err)
{
	struct zk_ticket *t = (struct zk_ticket *)base;
	struct zk_attempt a = {
		.s = dlki_zk_session_of(base->session),
		.t = t,
		.deadline = deadline,
		.err = err,
		.had = deadline - dlk_now(),
	};
	enum dlk_verdict verdict;
	int next;

	if (enter(&a) != 0)
		return DLK_FAILED;
	if (dlki_zk_poll(a.s, t, deadline)) {
		verdict = dlki_zk_busy(a.s, t);
		dlki_zk_leave(a.s);
		return verdict;
	}
	if (!dlki_zk_is_up(a.s)) {
		dlki_zk_leave(a.s);
		dlk_fail(err, DLOCK_EUNREACHABLE, "the connection was lost");
		return DLK_FAILED;
	}
	dlki_zk_dir(a.s, &base->request, a.dir);
	a.connects = a.s->connects;
	dlki_zk_tries_begin(&a);
	if (t->generation != a.s->generation) {
		/* The session has ended, and the node with it. */
		forget_node(&a);
		t->indeterminate = 0;
	} else if (t->own && t->own->fired == ZK_GONE) {
		forget_node(&a);
	}
	next = is_next_by_watch(t);
	hidden_node(t, a.hidden);
	dlki_zk_unwatch_ahead(a.s, t);
	if (next)
		verdict = list_queue(&a, NULL) == 0 ? grant_lock(&a) :
						      DLK_FAILED;
	else
		verdict = attempt_rounds(&a);
	dlki_zk_leave(a.s);
	if (base->is_try && dlk_now() > deadline) /* a release has time */
		base->overtime += dlk_now() - deadline + a.had;
	return verdict;
}
