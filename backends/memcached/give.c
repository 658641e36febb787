/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Giving up, one's own or by force.
 *
 * A claim of which nothing is unclear is one item, and if its cas is known on
 * this connection, one request removes it.  Otherwise all places where an item
 * of ours can be are looked at.
 */
#include "memcached.h"

#define ROUNDS 4

struct giving {
	struct memc_ticket *t; /* NULL: break the lock */
	struct memc_conn *c;
	const struct dlk_claim *claim;
	uint64_t last; /* whoever has a larger token is not meant */
	struct memc_op drop[MEMC_FLIGHT];
	int granted[MEMC_FLIGHT]; /* and that is what was granted */
	size_t n;
	int more;    /* something changed while we looked */
	int dropped; /* what was granted was there, and is no more */
	dlk_time deadline;
	struct dlk_error *err;
};

/* Without a byte of the operations, which most do not need. */
static void begin(struct giving *g, struct memc_conn *c,
		  const struct dlk_claim *claim, dlk_time deadline,
		  struct dlk_error *err)
{
	g->t = NULL;
	g->c = c;
	g->claim = claim;
	g->last = 0;
	g->n = 0;
	g->more = 0;
	g->dropped = 0;
	g->deadline = deadline;
	g->err = err;
}

static int drop(struct giving *g)
{
	int rc = dlki_memc_run(g->c, g->drop, g->n, g->deadline, g->err);

	for (size_t i = 0; i < g->n && rc == 0; i++) {
		g->more |= g->drop[i].answer == MEMC_OTHER;
		g->dropped |= g->drop[i].answer == MEMC_DONE && g->granted[i];
	}
	g->n = 0;
	return rc;
}

static int mark(struct memc_op *op, void *arg)
{
	struct giving *g = arg;

	if (g->t ? op->answer != MEMC_MINE :
		   op->answer == MEMC_MISSING || op->item.token > g->last)
		return 0;
	g->drop[g->n] = dlki_memc_op(MEMC_DROP, g->claim, op->slot);
	g->drop[g->n].cas = op->item.cas;
	g->granted[g->n] = !g->t || dlki_memc_same(g->t, &op->item);
	return ++g->n < MEMC_FLIGHT ? 0 : drop(g);
}

/* Look and remove what was seen, until nothing has come between. */
static int sweep(struct giving *g)
{
	for (int i = 0; i < ROUNDS; i++) {
		int rc;

		g->more = 0;
		g->n = 0;
		rc = dlki_memc_survey(g->c, g->claim, dlki_memc_gated(g->claim),
				      mark, g, g->deadline, g->err);
		if (rc == 0 && g->n > 0)
			rc = drop(g);
		if (rc != 0 || !g->more)
			return rc;
	}
	return dlk_fail(g->err, DLOCK_EUNREACHABLE,
			"%s: the lock changes hands too fast", g->c->net.who);
}

/* The one item that is ours; 1 if it is not as we knew it. */
static int drop_known(struct giving *g)
{
	struct memc_op op = dlki_memc_op(MEMC_LOOK, g->claim, g->t->slot);
	int granted = 1;
	int rc;

	if (g->t->connection != g->c->serial) {
		rc = dlki_memc_run(g->c, &op, 1, g->deadline, g->err);
		if (rc != 0 || op.answer != MEMC_MINE)
			return rc;
		dlki_memc_note(g->t, g->c, &op);
		granted = dlki_memc_same(g->t, &op.item);
	}
	op.verb = MEMC_DROP;
	op.cas = g->t->cas;
	rc = dlki_memc_run(g->c, &op, 1, g->deadline, g->err);
	g->dropped |= rc == 0 && op.answer == MEMC_DONE && granted;
	return rc != 0 ? rc : op.answer == MEMC_OTHER;
}

struct release {
	struct memc_ticket *t;
	int tries;
	int dropped;
};

static int give(struct memc_conn *c, void *arg, dlk_time deadline,
		struct dlk_error *err)
{
	struct release *r = arg;
	struct memc_ticket *t = r->t;
	struct giving g;
	int rc = 1;

	begin(&g, c, &t->base.claim, deadline, err);
	g.t = t;
	r->tries++;
	if (!t->unclear && t->stake != MEMC_NOTHING)
		rc = drop_known(&g);
	if (rc == 1)
		rc = sweep(&g);
	r->dropped = g.dropped;
	return rc;
}

/* What is missing at the first try was not removed by us. */
int dlki_memc_release(struct dlk_ticket *base, dlk_time deadline,
		      struct dlk_error *err)
{
	struct memc_ticket *t = memc_ticket(base);
	struct release r = { .t = t };
	int granted = t->granted;
	int rc;

	t->granted = 0;
	if (t->stake == MEMC_NOTHING && !t->unclear)
		return 0;
	rc = dlki_memc_with(memc_session(base->session), give, &r, deadline,
			    err);
	if (rc != 0) {
		t->unclear = 1;
		return rc;
	}
	if (t->stake != MEMC_NOTHING)
		dlki_memc_polls_over(t);
	t->stake = MEMC_NOTHING;
	if (granted && r.tries == 1 && !r.dropped)
		return dlk_fail(err, DLOCK_ELOST, "the claim did not stand");
	return 0;
}

struct breaking {
	const struct dlk_claim *claim;
	uint64_t last; /* the largest token that was there at first */
	int known;
};

static int see(struct memc_op *op, void *arg)
{
	struct breaking *b = arg;

	if (op->answer != MEMC_MISSING && op->item.token > b->last)
		b->last = op->item.token;
	return 0;
}

/* Done again if an answer was lost, when others may have come. */
static int take_away(struct memc_conn *c, void *arg, dlk_time deadline,
		     struct dlk_error *err)
{
	struct breaking *b = arg;
	struct giving g;
	int rc;

	if (!b->known) {
		b->last = 0;
		rc = dlki_memc_survey(c, b->claim, dlki_memc_gated(b->claim),
				      see, b, deadline, err);
		if (rc != 0)
			return rc;
		b->known = 1;
	}
	begin(&g, c, b->claim, deadline, err);
	g.last = b->last;
	return sweep(&g);
}

/* Later tokens are larger by themselves: the server's count goes on. */
int dlki_memc_break(struct dlk_session *s, const struct dlk_claim *claim,
		    dlk_time deadline, struct dlk_error *err)
{
	struct breaking b = { .claim = claim };

	return dlki_memc_with(memc_session(s), take_away, &b, deadline, err);
}
