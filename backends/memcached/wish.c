/* SPDX-License-Identifier: Apache-2.0 */
#include "wish.h"

#define ROUNDS 3

/* Others may leave theirs at the same time: one is as good as another. */
static int leave(struct memc_conn *c, const struct dlk_request *request,
		 const char *owner, dlk_time deadline, struct dlk_error *err)
{
	struct dlk_request to = *request;
	struct memc_op op;
	int rc = 0;

	to.owner = owner;
	op = dlki_memc_op(MEMC_GET, &to, MEMC_WISH);
	for (int i = 0; i < ROUNDS; i++) {
		rc = dlki_memc_run(c, &op, 1, deadline, err);
		if (rc != 0 || op.answer == MEMC_DONE || op.answer == MEMC_MINE)
			break;
		op.verb = op.answer == MEMC_MISSING ? MEMC_ADD : MEMC_SWAP;
		op.cas = op.item.cas;
		op.add = 1;
	}
	return rc;
}

/* ---- A waiter ------------------------------------------------------------ */

int dlki_memc_wish_after(struct memc_conn *c, struct memc_ticket *t,
			 const char *owner, dlk_time deadline,
			 struct dlk_error *err)
{
	if (!dlki_memc_claim_wishes(&t->claim, owner, dlk_now()))
		return 0;
	return leave(c, &t->base.request, owner, deadline, err);
}

/* ---- The owner ----------------------------------------------------------- */

int dlki_memc_wish_heard(const struct memc_ticket *t,
			 const struct memc_op *seen, struct memc_op *drop)
{
	if (seen->answer != MEMC_MINE)
		return 0;
	*drop = dlki_memc_op(MEMC_DROP, &t->base.request, MEMC_WISH);
	drop->cas = seen->item.cas;
	dlk_wanted(t->base.session, t->base.id);
	return 1;
}

static int look(struct memc_conn *c, void *arg, dlk_time deadline,
		struct dlk_error *err)
{
	struct memc_op *op = arg;
	struct memc_op drop;
	int rc;

	op->verb = MEMC_GET;
	rc = dlki_memc_run(c, op, 1, deadline, err);
	if (rc != 0 || op->answer != MEMC_MINE)
		return rc;
	drop = *op;
	drop.verb = MEMC_DROP;
	drop.cas = op->item.cas;
	return dlki_memc_run(c, &drop, 1, deadline, err);
}

int dlki_memc_watch_wanted(struct dlk_ticket *base, dlk_time deadline,
			   struct dlk_error *err)
{
	struct memc_ticket *t = memc_ticket(base);
	struct memc_op op = dlki_memc_op(MEMC_GET, &base->request, MEMC_WISH);
	int rc;

	t->claim.watched = 1;
	base->token_last = base->token;
	rc = dlki_memc_with(memc_session(base->session), look, &op, deadline,
			    err);
	return rc != 0 ? rc : op.answer == MEMC_MINE;
}

/* ---- Somebody ------------------------------------------------------------ */

static int revoke_on(struct memc_conn *c, void *arg, dlk_time deadline,
		     struct dlk_error *err)
{
	const struct dlk_request *request = arg;
	struct memc_op op = dlki_memc_op(MEMC_GET, request, MEMC_GATE);
	int rc = dlki_memc_run(c, &op, 1, deadline, err);

	if (rc != 0 || op.answer == MEMC_MISSING || !op.item.owner[0])
		return rc;
	return leave(c, request, op.item.owner, deadline, err);
}

int dlki_memc_revoke(struct dlk_session *s, const struct dlk_request *request,
		     dlk_time deadline, struct dlk_error *err)
{
	struct dlk_request asked = *request;

	if (!dlki_memc_gated(request))
		return 0;
	return dlki_memc_with(memc_session(s), revoke_on, &asked, deadline,
			      err);
}
