/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking for a claim.
 *
 * A mutex is its gate.  Of a read-write lock, a writer first takes the gate and
 * then looks at the slots; a reader first takes a slot and then looks at the
 * gate.  Whatever the order in which the server hears them, one of the two sees
 * the other: a reader then gives its slot back, a writer stays at the gate,
 * where it keeps new readers out, until the slots are empty.  A semaphore is
 * its slots.
 */
#include "memcached.h"

#include <string.h>

#include "core/clock.h"

#define ROUNDS 4

struct asking {
	struct memc_ticket *t;
	enum dlk_verdict verdict;
	/* What a survey saw. */
	int gate_taken;
	int mine;       /* the slot that is ours; -1: none */
	uint32_t limit; /* of others, if it is not ours */
	struct memc_op own;
	unsigned char taken[MEMC_PERMITS];
};

static void know(struct memc_ticket *t, const struct memc_conn *c,
		 const struct memc_op *op)
{
	dlki_memc_note(t, c, op);
	t->base.token = op->item.token;
	t->add = op->item.add;
}

/* ---- The gate ------------------------------------------------------------ */

static size_t at_gate(struct memc_ticket *t, const struct memc_conn *c,
		      struct memc_op ops[MEMC_FLIGHT])
{
	const struct dlk_claim *claim = &t->base.claim;
	int known = t->stake == MEMC_AT_GATE && t->connection == c->serial;
	int slots = dlki_memc_slots(claim);
	size_t n = 0;

	ops[n] = dlki_memc_op(known ? MEMC_SWAP : MEMC_ADD, claim, MEMC_GATE);
	ops[n].cas = t->cas;
	ops[n].token = known ? t->base.token : 0;
	ops[n++].add = known ? 0 : ++t->adds;
	for (int i = 0; i < slots; i++)
		ops[n++] = dlki_memc_op(MEMC_LOOK, claim, i);
	return n;
}

static int all_missing(const struct memc_op *ops, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ops[i].answer != MEMC_MISSING)
			return 0;
	}
	return 1;
}

static int take_gate(struct memc_conn *c, struct asking *a, dlk_time deadline,
		     struct dlk_error *err)
{
	struct memc_ticket *t = a->t;
	struct memc_op ops[MEMC_FLIGHT];

	a->verdict = DLK_BUSY;
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = at_gate(t, c, ops);
		int rc = dlki_memc_run(c, ops, n, deadline, err);

		if (rc != 0)
			return rc;
		switch (ops[0].answer) {
		case MEMC_DONE:
			know(t, c, &ops[0]);
			if (all_missing(ops + 1, n - 1))
				a->verdict = DLK_GRANTED;
			return 0;
		case MEMC_MINE: /* from before: its lease must begin anew */
			know(t, c, &ops[0]);
			break;
		case MEMC_OTHER:
			t->stake = MEMC_NOTHING;
			return 0;
		case MEMC_MISSING:
			t->stake = MEMC_NOTHING;
			break;
		}
	}
	return 0;
}

/* ---- The slots ----------------------------------------------------------- */

static int see(struct memc_op *op, void *arg)
{
	struct asking *a = arg;

	if (op->answer == MEMC_MISSING)
		return 0;
	if (op->slot == MEMC_GATE) {
		a->gate_taken = 1;
		return 0;
	}
	a->taken[op->slot] = 1;
	if (op->item.owner[0] && op->item.limit != a->t->base.claim.limit)
		a->limit = op->item.limit;
	if (op->answer == MEMC_MINE) {
		a->mine = op->slot;
		a->own = *op;
	}
	return 0;
}

static int drop_own(struct memc_conn *c, struct asking *a, dlk_time deadline,
		    struct dlk_error *err)
{
	struct memc_ticket *t = a->t;
	struct memc_op op = dlki_memc_op(MEMC_DROP, &t->base.claim, t->slot);
	int rc;

	op.cas = t->cas;
	rc = dlki_memc_run(c, &op, 1, deadline, err);
	if (rc == 0)
		t->stake = MEMC_NOTHING;
	if (rc == 0 && op.answer == MEMC_OTHER)
		t->unclear = 1; /* it was moved, and has another number */
	return rc;
}

/* Into this slot, by `op`, and look at the gate after that.  1: somebody was
 * quicker. */
static int enter(struct memc_conn *c, struct asking *a, struct memc_op op,
		 dlk_time deadline, struct dlk_error *err)
{
	struct memc_ticket *t = a->t;
	struct memc_op ops[2] = { op };
	size_t n = 1;
	int rc;

	if (dlki_memc_gated(&t->base.claim))
		ops[n++] = dlki_memc_op(MEMC_LOOK, &t->base.claim, MEMC_GATE);
	rc = dlki_memc_run(c, ops, n, deadline, err);
	if (rc != 0)
		return rc;
	if (ops[0].answer == MEMC_OTHER || ops[0].answer == MEMC_MISSING)
		return 1;
	know(t, c, &ops[0]);
	if (n == 2 && ops[1].answer != MEMC_MISSING)
		return drop_own(c, a, deadline, err);
	if (ops[0].answer == MEMC_DONE)
		a->verdict = DLK_GRANTED;
	return 0;
}

/* Readers begin at different slots, not to be in each other's way; permits at
 * the first, so that who means another number of them is seen. */
static int first_slot(const struct dlk_claim *claim, int slots)
{
	unsigned int sum = 0;

	if (claim->kind == DLK_SEMAPHORE)
		return 0;
	for (const char *s = claim->owner; *s; s++)
		sum = sum * 31 + (unsigned char)*s;
	return (int)(sum % (unsigned int)slots);
}

static int take_free(struct memc_conn *c, struct asking *a, dlk_time deadline,
		     struct dlk_error *err)
{
	const struct dlk_claim *claim = &a->t->base.claim;
	int slots = dlki_memc_slots(claim);
	int first = first_slot(claim, slots);

	for (int i = 0; i < slots; i++) {
		int slot = (first + i) % slots;
		struct memc_op op = dlki_memc_op(MEMC_ADD, claim, slot);
		int rc;

		if (a->taken[slot])
			continue;
		op.add = ++a->t->adds;
		rc = enter(c, a, op, deadline, err);
		if (rc <= 0)
			return rc;
	}
	return 0;
}

/* What a lost reply left in a slot is taken again, that its lease may begin
 * anew; unless a writer has come, who waits for it to go. */
static int take_again(struct memc_conn *c, struct asking *a, dlk_time deadline,
		      struct dlk_error *err)
{
	know(a->t, c, &a->own);
	if (a->gate_taken)
		return drop_own(c, a, deadline, err);
	a->own.verb = MEMC_SWAP;
	a->own.cas = a->own.item.cas;
	a->own.token = a->own.item.token;
	return enter(c, a, a->own, deadline, err);
}

static int take_slot(struct memc_conn *c, struct asking *a, dlk_time deadline,
		     struct dlk_error *err)
{
	const struct dlk_claim *claim = &a->t->base.claim;
	int rc;

	a->verdict = DLK_BUSY;
	a->gate_taken = 0;
	a->mine = -1;
	a->limit = 0;
	memset(a->taken, 0, sizeof(a->taken));
	rc = dlki_memc_survey(c, claim, dlki_memc_gated(claim), see, a,
			      deadline, err);
	if (rc != 0)
		return rc;
	if (a->limit != 0) {
		a->verdict = DLK_FAILED;
		dlk_fail(err, DLOCK_EINVAL,
			 "semaphore '%.100s': others mean %u permits, not %u",
			 claim->name, (unsigned int)a->limit,
			 (unsigned int)claim->limit);
		return 0;
	}
	if (a->mine >= 0) {
		rc = take_again(c, a, deadline, err);
		return rc < 0 ? rc : 0;
	}
	return a->gate_taken ? 0 : take_free(c, a, deadline, err);
}

/* ---- Either -------------------------------------------------------------- */

static int take(struct memc_conn *c, void *arg, dlk_time deadline,
		struct dlk_error *err)
{
	struct asking *a = arg;
	int rc;

	if (dlk_now() < c->grants_from) {
		a->verdict = DLK_FAILED;
		dlk_fail(err, DLOCK_EUNREACHABLE,
			 "%s: the server was started just now", c->net.who);
		return 0;
	}
	if (a->t->base.claim.mode == DLK_EXCLUSIVE)
		rc = take_gate(c, a, deadline, err);
	else
		rc = take_slot(c, a, deadline, err);
	if (rc != 0)
		a->t->unclear = 1;
	return rc;
}

enum dlk_verdict dlki_memc_attempt(struct dlk_ticket *base, dlk_time deadline,
				   struct dlk_error *err)
{
	struct memc_ticket *t = memc_ticket(base);
	struct asking a;

	if (base->claim.mode == DLK_SHARED &&
	    base->claim.limit > MEMC_PERMITS) {
		dlk_fail(err, DLOCK_ENOTSUP,
			 "semaphore '%.100s': at most %d permits in memcached, "
			 "not %u",
			 base->claim.name, MEMC_PERMITS,
			 (unsigned int)base->claim.limit);
		return DLK_FAILED;
	}
	if (t->asked && t->stake == MEMC_NOTHING && !t->unclear &&
	    dlki_memc_polls_busy(t, deadline))
		return DLK_BUSY;
	t->asked = 1;
	a.t = t;
	if (dlki_memc_with(memc_session(base->session), take, &a, deadline,
			   err) != 0)
		return DLK_FAILED;
	t->granted = a.verdict == DLK_GRANTED;
	if (a.verdict == DLK_BUSY)
		dlki_memc_polls_note(t);
	return a.verdict;
}
