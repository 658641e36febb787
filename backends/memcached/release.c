/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releasing one claim, or all that a client has.
 *
 * A claim of which nothing is unclear is one item, which one request removes;
 * if the server was restarted since, it is gone.  Otherwise every place where
 * an item of ours can be is read.  Known items of many claims go in batches.
 */
#include "clock.h"
#include "polls.h"
#include "sweep.h"

/* ---- One ----------------------------------------------------------------- */

/* The one item that is ours; 1 if it is not as we knew it. */
static int drop_known_item(struct memc_sweep *w)
{
	struct memc_op op = dlki_memc_op(MEMC_DROP, w->request,
					 w->t->claim.slot);
	int rc;

	if (w->t->claim.born_s != w->c->run.born_s)
		return dlki_memc_confirm(w->c, w->deadline, w->err);
	if (w->t->claim.epoch != w->c->run.epoch)
		return 1;
	op.cas = w->t->claim.cas;
	rc = dlki_memc_run(w->c, &op, 1, w->deadline, w->err);
	w->dropped |= rc == 0 && op.answer == MEMC_DONE;
	return rc != 0 ? rc : op.answer == MEMC_OTHER;
}

struct release {
	struct memc_ticket *t;
	int tries;
	int dropped; /* what was granted was there */
};

static int release_on(struct memc_conn *c, void *arg, dlk_time deadline,
		      struct dlk_error *err)
{
	struct release *r = arg;
	struct memc_ticket *t = r->t;
	struct memc_sweep w;
	int rc = 1;

	dlki_memc_sweep_init(&w, c, &t->base.request, deadline, err);
	w.t = t;
	r->tries++;
	if (!t->claim.unclear && t->claim.owned != MEMC_NOTHING)
		rc = drop_known_item(&w);
	if (rc == 1)
		rc = dlki_memc_sweep_all(&w);
	r->dropped = w.dropped;
	return rc;
}

/* If it was missing at the first try, it was not this call that removed it. */
int dlki_memc_release(struct dlk_ticket *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct memc_ticket *t = memc_ticket(base);
	struct release r = { .t = t };
	int granted = t->granted;
	int rc;

	t->granted = 0;
	if (t->claim.owned == MEMC_NOTHING && !t->claim.unclear)
		return 0;
	rc = dlki_memc_with(memc_session(base->session), release_on, &r,
			    deadline, err);
	if (rc != 0) {
		t->claim.unclear = 1;
		return rc;
	}
	if (t->claim.owned != MEMC_NOTHING)
		dlki_memc_polls_wake(t);
	t->claim.owned = MEMC_NOTHING;
	if (granted && r.tries == 1 && !r.dropped)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return 0;
}

/* ---- All ----------------------------------------------------------------- */

struct release_all {
	struct dlk_ticket *const *t;
	size_t n;
	size_t at; /* those before are done */
};

static int has_one_item(const struct memc_conn *c, const struct memc_ticket *t)
{
	return !t->claim.unclear && dlki_memc_claim_is_here(&t->claim, &c->run);
}

static int may_have_items(const struct memc_ticket *t)
{
	return t->claim.owned != MEMC_NOTHING || t->claim.unclear;
}

static int release_alone(struct memc_conn *c, struct memc_ticket *t,
			 dlk_time deadline, struct dlk_error *err)
{
	struct release r = { .t = t };

	return release_on(c, &r, deadline, err);
}

/* `n` tickets of one item each, MEMC_BATCH_MAX at most. */
static int drop_known_items(struct memc_conn *c,
			    struct memc_ticket *const known[], size_t n,
			    dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_BATCH_MAX];
	int rc;

	for (size_t i = 0; i < n; i++) {
		ops[i] = dlki_memc_op(MEMC_DROP, &known[i]->base.request,
				      known[i]->claim.slot);
		ops[i].cas = known[i]->claim.cas;
	}
	rc = dlki_memc_run(c, ops, n, deadline, err);
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (ops[i].answer == MEMC_OTHER) /* it was moved */
			rc = release_alone(c, known[i], deadline, err);
	}
	return rc;
}

/* From r->at up to `end`: MEMC_BATCH_MAX tickets at most. */
static int release_batch(struct memc_conn *c, const struct release_all *r,
			 size_t end, dlk_time deadline, struct dlk_error *err)
{
	struct memc_ticket *known[MEMC_BATCH_MAX];
	size_t n = 0;
	int rc;

	for (size_t i = r->at; i < end; i++) {
		if (has_one_item(c, memc_ticket(r->t[i])))
			known[n++] = memc_ticket(r->t[i]);
	}
	rc = n > 0 ? drop_known_items(c, known, n, deadline, err) : 0;
	for (size_t i = r->at; i < end && rc == 0; i++) {
		struct memc_ticket *t = memc_ticket(r->t[i]);

		if (may_have_items(t) && !has_one_item(c, t))
			rc = release_alone(c, t, deadline, err);
	}
	return rc;
}

static int release_all_on(struct memc_conn *c, void *arg, dlk_time deadline,
			  struct dlk_error *err)
{
	struct release_all *r = arg;

	while (r->at < r->n) {
		size_t end = r->at + MEMC_BATCH_MAX < r->n ?
				     r->at + MEMC_BATCH_MAX :
				     r->n;
		int rc = release_batch(c, r, end, deadline, err);

		if (rc != 0)
			return rc;
		r->at = end;
	}
	return 0;
}

void dlki_memc_release_all(struct dlk_session *s, struct dlk_ticket *const t[],
			   size_t n, dlk_time deadline)
{
	struct release_all r = { .t = t, .n = n };
	struct dlk_error err = { 0 };

	(void)dlki_memc_with(memc_session(s), release_all_on, &r, deadline,
			     &err);
}
