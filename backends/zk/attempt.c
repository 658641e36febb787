/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/zk/zk.h"

#include <stdio.h>
#include <string.h>

#define TRIES 8 /* the directory may be reaped between any two requests */

struct attempt {
	struct zk_hub *h;
	struct zk_ticket *t;
	dlk_time deadline;
	struct dlk_error *err;
	char dir[ZK_PATH_SIZE];
	int proven;        /* no write of this attempt need be answered */
	int alone;         /* nobody else is in the line */
	uint64_t connects; /* the hub's, when this began */
};

enum { AGAIN = 1 }; /* beside 0 and the error codes, which are negative */

/* The data of the directory: what a listing reports. */
static int make_dirs(struct attempt *a)
{
	const struct dlk_claim *claim = &a->t->base.claim;
	struct zk_call *calls[2];
	char data[300];
	int rc;

	snprintf(data, sizeof(data), "%u %s", claim->limit, claim->name);
	calls[0] = dlki_zk_create(a->h, a->h->base, "", ZOO_CONTAINER);
	calls[1] = dlki_zk_create(a->h, a->dir, data, ZOO_CONTAINER);
	dlki_zk_wait(a->h, calls, 2, a->deadline);
	if (calls[0] && calls[0]->rc == ZNONODE)
		rc = dlk_fail(a->err, DLOCK_EINVAL,
			      "the path %s does not exist in ZooKeeper; create "
			      "it, or leave it out of the URI",
			      a->h->root);
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

/* What create came to.  Without an answer a node may be there. */
static int created(struct attempt *a, const struct zk_call *create)
{
	struct zk_ticket *t = a->t;

	if (create && create->rc == ZOK) {
		memcpy(t->node, create->node, sizeof(t->node));
		t->czxid = create->stat.czxid;
		t->asked = 0;
		return 0;
	}
	if (!create || create->rc <= ZAPIERROR)
		t->asked = create && (create->rc == ZSESSIONEXPIRED ||
				      create->rc == ZSESSIONMOVED ||
				      create->rc == ZCLOSING);
	if (create && create->rc == ZNONODE) {
		int rc = make_dirs(a);

		return rc != 0 ? rc : AGAIN;
	}
	return dlki_zk_reason(create, "asking for a place in the line", a->err);
}

/* Ask for a place in the line, and for the line, in one flight: requests of a
 * session are answered in order, so that ours is in it.  Where nobody else is
 * expected the place alone is asked for, and mostly is enough. */
static int join_line(struct attempt *a, struct zk_call **children)
{
	const struct dlk_claim *claim = &a->t->base.claim;
	struct zk_call *calls[2] = { NULL, NULL };
	int likely = dlki_zk_alone_likely(a->h, claim->key);
	char path[ZK_PATH_SIZE], limit[12] = "", node[ZK_NODE_SIZE];
	int rc;

	if (claim->limit > 0)
		snprintf(limit, sizeof(limit), "%u", claim->limit);
	snprintf(node, sizeof(node), "%s-%c%s-", claim->owner,
		 claim->mode == DLK_SHARED ? 's' : 'x', limit);
	dlki_zk_path(path, a->dir, node);
	a->t->life = a->h->link->life;
	a->t->asked = 1;
	calls[0] = dlki_zk_create(a->h, path, claim->label,
				  ZOO_EPHEMERAL_SEQUENTIAL);
	if (!likely)
		calls[1] = dlki_zk_children(a->h, a->dir);
	dlki_zk_wait(a->h, calls, 2, a->deadline);
	rc = created(a, calls[0]);
	dlki_zk_drop(&calls[0], 1);
	if (rc == 0)
		a->alone = dlki_zk_alone_still(a->h, a->t);
	if (rc == 0 && likely && !a->alone)
		rc = AGAIN;
	if (rc == 0)
		*children = calls[1];
	else
		dlki_zk_drop(&calls[1], 1);
	return rc;
}

/*
 * A grant that comes with no write of ours rests on the last one.  Where that
 * was some time ago the lease is handed over short, and the core makes it whole
 * while its caller goes on; where it was long ago, another write is made.
 */
static struct zk_call *rest_on_proof(struct attempt *a)
{
	struct dlk_ticket *t = &a->t->base;
	int64_t ttl_ms = a->h->link->timeout_ms;
	int64_t age_ms = (t->since - a->h->proved) / ZK_MS;

	if (a->h->proved == 0 || age_ms > ttl_ms / 4)
		return dlki_zk_proof(a->h);
	if (age_ms > ttl_ms / 30 && ttl_ms - age_ms - 1 < t->lease_ms)
		t->lease_ms = ttl_ms - age_ms - 1;
	else if (age_ms >= 0 && a->h->proved < t->since)
		t->since = a->h->proved;
	a->proven = 1;
	return NULL;
}

static int look_at_line(struct attempt *a, struct zk_call **children)
{
	struct zk_call *calls[2] = { NULL, NULL };
	int rc = 0;

	a->proven = 0;
	calls[0] = rest_on_proof(a);
	if (children)
		calls[1] = dlki_zk_children(a->h, a->dir);
	dlki_zk_wait(a->h, calls, 2, a->deadline);
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

static enum dlk_verdict grant(struct attempt *a)
{
	struct zk_ticket *t = a->t;
	char path[ZK_PATH_SIZE];

	dlki_zk_path(path, a->dir, t->node);
	if (!t->own)
		t->own = dlki_zk_guard(a->h, t->base.id, path);
	if (!t->own) {
		dlk_fail(a->err, DLOCK_ENOMEM, "out of memory");
		return DLK_FAILED;
	}
	if (a->h->link && a->h->link->timeout_ms < t->base.lease_ms)
		t->base.lease_ms = a->h->link->timeout_ms;
	t->base.token = (uint64_t)t->czxid;
	t->granted = 1;
	return DLK_GRANTED;
}

static int watch(struct attempt *a, const char *node)
{
	char path[ZK_PATH_SIZE];
	struct zk_watcher *w;

	dlki_zk_path(path, a->dir, node);
	w = dlki_zk_watch(a->h, a->t->base.id, path, a->err);
	if (!w)
		return a->err->code;
	w->more = a->t->ahead;
	a->t->ahead = w;
	return 0;
}

/* Our own first, so that it is known to be there when another one's going is
 * told. */
static int watch_own(struct attempt *a)
{
	struct zk_ticket *t = a->t;
	char path[ZK_PATH_SIZE];

	dlki_zk_path(path, a->dir, t->node);
	if (!t->own)
		t->own = dlki_zk_guard_now(a->h, t->base.id, path);
	if (!t->own)
		return dlk_fail(a->err, DLOCK_ENOMEM, "out of memory");
	return 0;
}

/* Where there is a limit, the going of any of those ahead may let us in; as
 * long as none of the nearest `limit` has gone, as many are still ahead. */
static enum dlk_verdict wait_for(struct attempt *a, const struct zk_line *line,
				 size_t ahead, size_t in_the_way)
{
	size_t n = a->t->base.claim.limit > 0 ? a->t->base.claim.limit : 1;

	if (watch_own(a) != 0)
		return DLK_FAILED;
	for (size_t i = in_the_way + 1; i > 0 && n > 0; i--, n--) {
		if (watch(a, line->v[i - 1].node) != 0)
			return DLK_FAILED;
	}
	if (ahead == 1)
		a->t->sole = a->t->ahead;
	return DLK_BUSY;
}

/* The first of those ahead who means another number of permits, or -1. */
static ptrdiff_t stranger(const struct zk_line *line, size_t ahead,
			  uint32_t limit)
{
	for (size_t i = 0; limit > 0 && i < ahead; i++) {
		if (line->v[i].place.limit != limit)
			return (ptrdiff_t)i;
	}
	return -1;
}

/* Who is first in the line says what all mean.  Another one is about to be
 * refused, or has become the first since: which of them, its going tells. */
static enum dlk_verdict rank(struct attempt *a, const struct zk_line *line,
			     size_t ahead)
{
	const struct dlk_claim *claim = &a->t->base.claim;
	struct dlk_place me = { claim->mode, claim->limit };
	ptrdiff_t other = stranger(line, ahead, claim->limit);
	ptrdiff_t last;

	if (other == 0) {
		dlk_fail(a->err, DLOCK_EINVAL,
			 "semaphore '%s': others use %u permits, not %u",
			 claim->name, line->v[0].place.limit, claim->limit);
		return DLK_FAILED;
	}
	if (other > 0)
		return watch(a, line->v[other].node) == 0 ? DLK_BUSY :
							    DLK_FAILED;
	last = dlk_grant(line->places, ahead, me);
	return last < 0 ? grant(a) : wait_for(a, line, ahead, (size_t)last);
}

static void lose_place(struct attempt *a)
{
	a->t->node[0] = '\0';
	dlki_zk_unwatch(a->h, a->t->own);
	a->t->own = NULL;
}

/* 0 with a verdict, or AGAIN: our node is gone. */
static int judge(struct attempt *a, const struct zk_call *children,
		 enum dlk_verdict *verdict)
{
	struct zk_ticket *t = a->t;
	struct zk_line line;
	size_t ahead = 0;

	if (children->rc == ZNONODE) {
		lose_place(a);
		return AGAIN;
	}
	*verdict = DLK_FAILED;
	if (dlki_zk_reason(children, "listing", a->err) != 0 ||
	    dlki_zk_line(a->h, &line, a->dir, children, a->deadline, a->err) !=
		    0)
		return 0;
	while (ahead < line.n && strcmp(line.v[ahead].node, t->node) != 0)
		ahead++;
	if (ahead == line.n) {
		lose_place(a);
		dlki_zk_line_free(&line);
		return AGAIN;
	}
	if (line.n == 1 && a->connects == a->h->connects)
		dlki_zk_alone_seen(a->h, t);
	*verdict = rank(a, &line, ahead);
	dlki_zk_line_free(&line);
	return 0;
}

static enum dlk_verdict ask(struct attempt *a)
{
	struct zk_ticket *t = a->t;
	enum dlk_verdict verdict = DLK_FAILED;
	struct zk_call *children;

	for (int i = 0; i < TRIES; i++) {
		int rc;

		if (!t->node[0] && t->asked &&
		    dlki_zk_recover(a->h, t, a->dir, a->deadline, a->err) != 0)
			return DLK_FAILED;
		/* The session may have gone while we waited. */
		if (!a->h->link || a->h->link->state != ZK_UP)
			break;
		rc = t->node[0] ? look_at_line(a, &children) :
				  join_line(a, &children);
		if (rc == AGAIN)
			continue;
		if (rc != 0)
			return DLK_FAILED;
		if (a->alone) {
			dlki_zk_drop(&children, 1);
			return grant(a);
		}
		if (!children) {
			dlk_fail(a->err, DLOCK_ENOMEM, "out of memory");
			return DLK_FAILED;
		}
		rc = judge(a, children, &verdict);
		dlki_zk_drop(&children, 1);
		if (rc != AGAIN)
			return verdict;
	}
	dlk_fail(a->err, DLOCK_EUNREACHABLE,
		 "the connection was lost, or nodes vanish as they are made");
	return DLK_FAILED;
}

/*
 * The only one ahead has gone: there is no need to list again, if our own node
 * was there then.  Who queues behind one that somebody deleted waits for the
 * same node as we do.  A server tells what goes in the order of its going, so
 * that a watch which is set and silent says so, over the same connection: a
 * server that we were moved to may be behind.
 */
static int is_next(const struct attempt *a)
{
	const struct zk_ticket *t = a->t;

	return t->node[0] && dlki_zk_guarded(t->own) && t->sole &&
	       t->sole->fired == ZK_GONE && t->sole->connects == a->connects;
}

enum dlk_verdict dlki_zk_attempt(struct dlk_ticket *base, dlk_time deadline,
				 struct dlk_error *err)
{
	struct zk_ticket *t = (struct zk_ticket *)base;
	struct attempt a = {
		.h = ((struct zk_session *)base->session)->hub,
		.t = t,
		.deadline = deadline,
		.err = err,
	};
	enum dlk_verdict verdict;
	int turn;

	if (dlki_zk_enter(a.h, deadline, err) != 0)
		return DLK_FAILED;
	dlki_zk_dir(a.h, &base->claim, a.dir);
	a.connects = a.h->connects;
	if (t->life != a.h->link->life) {
		/* Its session has ended, and its node with it. */
		lose_place(&a);
		t->asked = 0;
	} else if (t->own && t->own->fired == ZK_GONE) {
		lose_place(&a);
	}
	turn = is_next(&a);
	dlki_zk_unwatch_ahead(a.h, t);
	if (turn)
		verdict = look_at_line(&a, NULL) == 0 ? grant(&a) : DLK_FAILED;
	else
		verdict = ask(&a);
	dlki_zk_leave(a.h);
	return verdict;
}
