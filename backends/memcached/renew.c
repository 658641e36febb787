/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renewing: each item is stored again in the place of the very item that was
 * there, a batch for many claims.  The marks of those that are in slots, and
 * the wishes of those that are watched, are got in the same batch.  The items
 * that the server has moved have another cas since, and cost one round trip
 * more; so do marks that are to live longer.
 */
#include "clock.h"
#include "mark.h"
#include "wish.h"

/* A renewal of a slot, and the mark that was got in the same batch. */
struct memc_marked {
	struct memc_ticket *t;
	enum dlk_renewal *verdict;
	struct memc_op seen;
};

struct renewals {
	struct dlk_ticket *const *t;
	enum dlk_renewal *verdict;
	size_t n;
};

static int has_mark(struct dlk_ticket *t)
{
	return t->request.mode == DLK_SHARED;
}

static int has_wish(struct dlk_ticket *t)
{
	return memc_ticket(t)->claim.watched && !has_mark(t);
}

/* An item known from another server is read first: a server that was started in
 * the same second has the same keys. */
static struct memc_op renewal_op(const struct memc_conn *c,
				 const struct memc_ticket *t)
{
	const struct memc_claim *claim = &t->claim;
	enum memc_verb verb = claim->epoch == c->run.epoch ? MEMC_SWAP :
							     MEMC_GET;
	struct memc_op op = dlki_memc_op(verb, &t->base.request, claim->slot);

	op.cas = claim->cas;
	op.token = claim->token;
	return op;
}

/* 1: it stands, but under a cas that we did not know. */
static int judge_renewal(struct memc_conn *c, struct memc_ticket *t,
			 enum dlk_renewal *verdict, const struct memc_op *op)
{
	if (op->answer == MEMC_OTHER || op->answer == MEMC_MISSING ||
	    !dlki_memc_claim_granted(&t->claim, &op->item)) {
		*verdict = DLK_GONE;
		return 0;
	}
	dlki_memc_claim_own(&t->claim, &c->run, op);
	if (op->answer == MEMC_DONE)
		*verdict = DLK_RENEWED;
	return op->answer == MEMC_MINE;
}

/* Is the claim on another run of the server than this connection? */
static int is_elsewhere(const struct memc_conn *c, struct dlk_ticket *t)
{
	return memc_ticket(t)->claim.born_s != c->run.born_s;
}

static size_t pick_this_run(const struct memc_conn *c, const struct renewals *r,
			    size_t which[MEMC_BATCH_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		if (!is_elsewhere(c, r->t[i]))
			which[n++] = i;
	}
	return n;
}

/* That run is over. */
static void end_other_runs(const struct memc_conn *c, const struct renewals *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (is_elsewhere(c, r->t[i]))
			r->verdict[i] = DLK_GONE;
	}
}

/* Those of `which`, and get the `m` marks and wishes as well.  `which` keeps
 * those that must be asked for again; returns how many in `n`. */
static int renew_once(struct memc_conn *c, const struct renewals *r,
		      size_t which[], size_t *n, struct memc_marked marked[],
		      size_t m, dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_BATCH_MAX];
	size_t again = 0;
	int rc;

	for (size_t i = 0; i < *n; i++)
		ops[i] = renewal_op(c, memc_ticket(r->t[which[i]]));
	for (size_t i = 0; i < m; i++)
		ops[*n + i] = dlki_memc_op(
			MEMC_GET, &marked[i].t->base.request,
			has_mark(&marked[i].t->base) ? MEMC_MARK : MEMC_WISH);
	rc = dlki_memc_run(c, ops, *n + m, deadline, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < m; i++)
		marked[i].seen = ops[*n + i];
	for (size_t i = 0; i < *n; i++) {
		size_t k = which[i];

		if (judge_renewal(c, memc_ticket(r->t[k]), &r->verdict[k],
				  &ops[i]))
			which[again++] = k;
	}
	*n = again;
	return 0;
}

/* Those of `which` that have `what`, beside the renewals themselves. */
static size_t pick_beside(const struct renewals *r, const size_t which[],
			  size_t n, int (*has)(struct dlk_ticket *t),
			  struct memc_marked out[])
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (!has(r->t[which[i]]))
			continue;
		out[m].t = memc_ticket(r->t[which[i]]);
		out[m++].verdict = &r->verdict[which[i]];
	}
	return m;
}

static int hear_wishes(struct memc_conn *c, const struct memc_marked v[],
		       size_t n, dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_BATCH_MAX / 2];
	size_t drops = 0;

	for (size_t i = 0; i < n; i++) {
		if (dlki_memc_wish_heard(v[i].t, &v[i].seen, &ops[drops]))
			drops++;
	}
	return drops > 0 ? dlki_memc_run(c, ops, drops, deadline, err) : 0;
}

static int is_reader(const struct memc_ticket *t)
{
	return t->base.request.kind == DLK_LOCK;
}

/* A reader's that has gone is not made again: the claim has gone with it. */
static int must_store(const struct memc_conn *c, struct memc_marked *m,
		      struct memc_op *op)
{
	if (*m->verdict != DLK_RENEWED ||
	    (is_reader(m->t) &&
	     !dlki_memc_mark_is_kept(&m->t->claim, &m->seen)))
		return 0;
	*op = dlki_memc_mark_op(&c->run, &m->t->claim, &m->t->base.request,
				&m->seen, dlk_now());
	return op->verb != MEMC_GET;
}

/* Let the marks live for longer where they must. */
static int renew_marks(struct memc_conn *c, struct memc_marked v[], size_t n,
		       dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_BATCH_MAX];
	size_t which[MEMC_BATCH_MAX], todo = 0;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		if (must_store(c, &v[i], &ops[todo]))
			which[todo++] = i;
	}
	if (todo > 0)
		rc = dlki_memc_run(c, ops, todo, deadline, err);
	for (size_t i = 0; i < todo && rc == 0; i++)
		v[which[i]].seen = ops[i];
	return rc;
}

/* Take back the renewals of readers whose mark has gone. */
static void judge_marks(const struct memc_conn *c, const struct memc_marked v[],
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_reader(v[i].t) || *v[i].verdict != DLK_RENEWED)
			continue;
		if (!dlki_memc_mark_is_kept(&v[i].t->claim, &v[i].seen))
			*v[i].verdict = DLK_GONE;
		else if (!dlki_memc_mark_lasts(&c->run, &v[i].seen, dlk_now()))
			*v[i].verdict = DLK_UNKNOWN;
	}
}

static int renew_batch(struct memc_conn *c, const struct renewals *r,
		       dlk_time deadline, struct dlk_error *err)
{
	struct memc_marked beside[MEMC_BATCH_MAX / 2];
	size_t which[MEMC_BATCH_MAX];
	size_t n = pick_this_run(c, r, which), m, w;
	int rc = n < r->n ? dlki_memc_confirm(c, deadline, err) : 0;

	if (rc != 0)
		return rc;
	if (n < r->n)
		end_other_runs(c, r);
	m = pick_beside(r, which, n, has_mark, beside);
	w = pick_beside(r, which, n, has_wish, beside + m);
	if (n > 0)
		rc = renew_once(c, r, which, &n, beside, m + w, deadline, err);
	if (rc != 0)
		return rc;
	if (n > 0)
		rc = renew_once(c, r, which, &n, NULL, 0, deadline, err);
	if (rc == 0)
		rc = renew_marks(c, beside, m, deadline, err);
	judge_marks(c, beside, m);
	return rc == 0 ? hear_wishes(c, beside + m, w, deadline, err) : rc;
}

/* How many of them one batch has room for. */
static size_t count_that_fit(const struct renewals *all, size_t at)
{
	size_t ops = 0, end = at;

	for (; end < all->n; end++) {
		ops += has_mark(all->t[end]) || has_wish(all->t[end]) ? 2 : 1;
		if (ops > MEMC_BATCH_MAX)
			break;
	}
	return end - at;
}

static int renew_on(struct memc_conn *c, void *arg, dlk_time deadline,
		    struct dlk_error *err)
{
	const struct renewals *all = arg;
	size_t at, most;

	for (at = 0; at < all->n; at += most) {
		struct renewals r = {
			.t = all->t + at,
			.verdict = all->verdict + at,
		};
		int rc;

		most = r.n = count_that_fit(all, at);
		rc = renew_batch(c, &r, deadline, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

void dlki_memc_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		     enum dlk_renewal verdict[], size_t n, dlk_time deadline,
		     struct dlk_error *err)
{
	struct renewals r = { .t = t, .verdict = verdict, .n = n };

	if (dlki_memc_with_urgent(memc_session(s), renew_on, &r, deadline,
				  err) == 0)
		err->code = 0;
}
