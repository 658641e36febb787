/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renewal: each item is put anew in the place of the very one that was there,
 * in a flight for many; a round trip more for those that this connection does
 * not know yet.
 */
#include "memcached.h"

struct round {
	struct dlk_ticket *const *t;
	enum dlk_lease *verdict;
	size_t n;
};

static struct memc_op ask(const struct memc_conn *c,
			  const struct memc_ticket *t)
{
	enum memc_verb verb = t->connection == c->serial ? MEMC_SWAP :
							   MEMC_LOOK;
	struct memc_op op = dlki_memc_op(verb, &t->base.claim, t->slot);

	op.cas = t->cas;
	op.token = t->base.token;
	return op;
}

/* 1: it stands, but under a number that we did not know. */
static int learn(struct memc_conn *c, struct memc_ticket *t,
		 enum dlk_lease *verdict, const struct memc_op *op)
{
	if (op->answer == MEMC_OTHER || op->answer == MEMC_MISSING ||
	    !dlki_memc_same(t, &op->item)) {
		*verdict = DLK_GONE;
		return 0;
	}
	dlki_memc_note(t, c, op);
	if (op->answer == MEMC_DONE)
		*verdict = DLK_RENEWED;
	return op->answer == MEMC_MINE;
}

static int renew_some(struct memc_conn *c, const struct round *r,
		      dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_FLIGHT];
	size_t which[MEMC_FLIGHT];
	size_t n = r->n;

	for (size_t i = 0; i < n; i++)
		which[i] = i;
	for (int pass = 0; pass < 2 && n > 0; pass++) {
		size_t again = 0;
		int rc;

		for (size_t i = 0; i < n; i++)
			ops[i] = ask(c, memc_ticket(r->t[which[i]]));
		rc = dlki_memc_run(c, ops, n, deadline, err);
		if (rc != 0)
			return rc;
		for (size_t i = 0; i < n; i++) {
			size_t k = which[i];

			if (learn(c, memc_ticket(r->t[k]), &r->verdict[k],
				  &ops[i]))
				which[again++] = k;
		}
		n = again;
	}
	return 0;
}

static int renew(struct memc_conn *c, void *arg, dlk_time deadline,
		 struct dlk_error *err)
{
	const struct round *all = arg;
	size_t at, most;

	for (at = 0; at < all->n; at += most) {
		struct round r = { all->t + at, all->verdict + at,
				   all->n - at };
		int rc;

		if (r.n > MEMC_FLIGHT)
			r.n = MEMC_FLIGHT;
		most = r.n;
		rc = renew_some(c, &r, deadline, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

void dlki_memc_renew(struct dlk_session *s, struct dlk_ticket *const t[],
		     enum dlk_lease verdict[], size_t n, dlk_time deadline,
		     struct dlk_error *err)
{
	struct round r = { t, verdict, n };

	if (dlki_memc_with(memc_session(s), renew, &r, deadline, err) == 0)
		err->code = 0;
}
