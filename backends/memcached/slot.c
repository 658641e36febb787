/* SPDX-License-Identifier: Apache-2.0 */
#include "slot.h"

#include <string.h>

#include "mark.h"
#include "uri.h"

#define ROUNDS 4

void dlki_memc_note_foreign(struct memc_attempt *a, const struct memc_op *op)
{
	if (op->answer != MEMC_MISSING && !op->item.owner[0])
		dlki_memc_key(a->c->run.stem, a->c->run.stem_len, op->request,
			      op->slot, a->foreign);
}

static int is_semaphore(const struct memc_attempt *a)
{
	return a->t->base.request.kind == DLK_SEMAPHORE;
}

static int note_item(struct memc_op *op, void *arg)
{
	struct memc_attempt *a = arg;

	dlki_memc_note_foreign(a, op);
	if (op->slot == MEMC_MARK) {
		a->mark = *op;
		return 0;
	}
	if (op->answer == MEMC_MISSING)
		return 0;
	if (op->slot == MEMC_GATE) {
		a->gate_taken = 1;
		return 0;
	}
	a->taken[op->slot] = 1;
	if (op->item.owner[0] && op->item.limit != a->t->base.request.limit)
		a->limit = op->item.limit;
	if (op->answer == MEMC_MINE) {
		a->mine = op->slot;
		a->own = *op;
	}
	return 0;
}

static int fail_other_limit(struct memc_attempt *a, struct dlk_error *err)
{
	const struct dlk_request *request = &a->t->base.request;

	a->verdict = DLK_FAILED;
	dlk_fail(err, DLOCK_EINVAL, MEMC_OTHER_LIMIT, request->name,
		 (unsigned int)a->limit, (unsigned int)request->limit);
	return 0;
}

/* ---- A mark of another number -------------------------------------------- */

static int swap_mark(struct memc_conn *c, struct memc_attempt *a,
		     uint32_t limit, dlk_time deadline, struct dlk_error *err)
{
	struct memc_op op = dlki_memc_op(MEMC_SWAP, &a->t->base.request,
					 MEMC_MARK);
	int rc;

	op.cas = a->mark.item.cas;
	op.item = a->mark.item;
	op.item.limit = limit;
	rc = dlki_memc_run(c, &op, 1, deadline, err);
	if (rc == 0)
		a->mark = op;
	return rc;
}

/*
 * The mark stands if a slot is held for its number.  If not, write our own, and
 * get the slots after that.  A client that takes a slot gets the mark after
 * that.  One of the two sees the other.
 */
static int correct_mark(struct memc_conn *c, struct memc_attempt *a,
			dlk_time deadline, struct dlk_error *err)
{
	const struct dlk_request *request = &a->t->base.request;
	struct dlk_request theirs = *request;
	int slots = dlki_memc_slots(request);
	int rc;

	theirs.limit = a->mark.item.limit;
	if (slots < dlki_memc_slots(&theirs))
		slots = dlki_memc_slots(&theirs);
	rc = dlki_memc_survey(c, request, 0, slots, note_item, a, deadline,
			      err);
	if (rc != 0 || a->limit != 0)
		return rc;
	rc = swap_mark(c, a, request->limit, deadline, err);
	if (rc != 0)
		return rc;
	a->again = a->mark.answer != MEMC_DONE;
	if (a->again)
		return 0;
	rc = dlki_memc_survey(c, request, 0, slots, note_item, a, deadline,
			      err);
	if (rc == 0 && a->limit != 0)
		rc = swap_mark(c, a, theirs.limit, deadline, err);
	return rc;
}

/* ---- A slot -------------------------------------------------------------- */

static int drop_own(struct memc_conn *c, struct memc_attempt *a,
		    dlk_time deadline, struct dlk_error *err)
{
	struct memc_ticket *t = a->t;
	struct memc_op op = dlki_memc_op(MEMC_DROP, &t->base.request,
					 t->claim.slot);
	int rc;

	op.cas = t->claim.cas;
	rc = dlki_memc_run(c, &op, 1, deadline, err);
	if (rc == 0)
		t->claim.owned = MEMC_NOTHING;
	if (rc == 0 && op.answer == MEMC_OTHER)
		t->claim.unclear = 1; /* it was moved, and has another cas */
	return rc;
}

/* A writer at the gate came before us, or the mark, which was made sure of
 * before the gate was got, may go before we do. */
static int is_reader_blocked(struct memc_attempt *a, const struct memc_op *mark,
			     const struct memc_op *gate)
{
	dlki_memc_note_foreign(a, gate);
	if (gate->answer != MEMC_MISSING)
		return 1;
	a->again = !dlki_memc_mark_lasts(&a->c->run, mark, dlk_now());
	dlki_memc_mark_keep(&a->t->claim, mark);
	return a->again;
}

/* A client with another number came before us. */
static int is_permit_blocked(struct memc_attempt *a, const struct memc_op *mark)
{
	a->mark = *mark;
	a->again = dlki_memc_mark_differs(&a->t->base.request, mark);
	return a->again;
}

/* Make sure of the mark, then take this slot, by `op`, and after that get what
 * the others may have left meanwhile.  1: another client was quicker. */
static int enter_slot(struct memc_conn *c, struct memc_attempt *a,
		      struct memc_op op, dlk_time deadline,
		      struct dlk_error *err)
{
	struct memc_ticket *t = a->t;
	const struct dlk_request *request = &t->base.request;
	int check = is_semaphore(a) ? MEMC_MARK : MEMC_GATE;
	struct memc_op ops[] = {
		dlki_memc_mark_op(&c->run, &t->claim, request, &a->mark,
				  dlk_now()),
		op,
		dlki_memc_op(MEMC_GET, request, check),
	};
	struct memc_op *own = &ops[1];
	int rc = dlki_memc_run(c, ops, 3, deadline, err);

	if (rc != 0)
		return rc;
	if (own->answer == MEMC_OTHER || own->answer == MEMC_MISSING) {
		note_item(own, a);
		return a->limit != 0 ? fail_other_limit(a, err) : 1;
	}
	dlki_memc_claim_accept(&t->claim, &c->run, own);
	if (is_semaphore(a) ? is_permit_blocked(a, &ops[2]) :
			      is_reader_blocked(a, &ops[0], &ops[2]))
		return drop_own(c, a, deadline, err);
	if (own->answer == MEMC_DONE)
		a->verdict = DLK_GRANTED;
	return 0;
}

static int enter_any_free(struct memc_conn *c, struct memc_attempt *a,
			  dlk_time deadline, struct dlk_error *err)
{
	const struct dlk_request *request = &a->t->base.request;
	int slots = dlki_memc_slots(request);
	int first = dlki_memc_first_slot(request);

	for (int i = 0; i < slots; i++) {
		int slot = (first + i) % slots;
		struct memc_op op = dlki_memc_op(MEMC_ADD, request, slot);
		int rc;

		if (a->taken[slot])
			continue;
		op.add = ++a->t->claim.adds;
		rc = enter_slot(c, a, op, deadline, err);
		if (rc <= 0)
			return rc;
	}
	return 0;
}

/* Take again the slot that a lost reply left us, so that its lease begins anew.
 * If a writer has come, which waits for the slot, remove the item instead. */
static int enter_again(struct memc_conn *c, struct memc_attempt *a,
		       dlk_time deadline, struct dlk_error *err)
{
	int rc;

	dlki_memc_claim_accept(&a->t->claim, &c->run, &a->own);
	if (a->gate_taken)
		return drop_own(c, a, deadline, err);
	a->own.verb = MEMC_SWAP;
	a->own.cas = a->own.item.cas;
	a->own.token = a->own.item.token;
	rc = enter_slot(c, a, a->own, deadline, err);
	return rc < 0 ? rc : 0;
}

/* Is the mark an item that no dlock wrote? */
static int is_foreign(const struct memc_attempt *a)
{
	return a->mark.answer != MEMC_MISSING && !a->mark.item.owner[0];
}

static int attempt_once(struct memc_conn *c, struct memc_attempt *a,
			dlk_time deadline, struct dlk_error *err)
{
	const struct dlk_request *request = &a->t->base.request;
	int rc;

	a->again = 0;
	a->gate_taken = 0;
	a->mine = -1;
	a->limit = 0;
	memset(a->taken, 0, sizeof(a->taken));
	rc = dlki_memc_survey(c, request, MEMC_MARK, dlki_memc_slots(request),
			      note_item, a, deadline, err);
	if (rc == 0 && a->limit == 0 && is_semaphore(a) &&
	    dlki_memc_mark_differs(request, &a->mark))
		rc = correct_mark(c, a, deadline, err);
	if (rc != 0)
		return rc;
	if (a->limit != 0)
		return fail_other_limit(a, err);
	if (a->again || is_foreign(a))
		return 0;
	if (a->mine >= 0)
		return enter_again(c, a, deadline, err);
	return a->gate_taken ? 0 : enter_any_free(c, a, deadline, err);
}

int dlki_memc_attempt_slot(struct memc_conn *c, struct memc_attempt *a,
			   dlk_time deadline, struct dlk_error *err)
{
	int rc = 0;

	a->verdict = DLK_BUSY;
	a->again = 1;
	for (int i = 0; i < ROUNDS && rc == 0 && a->again; i++)
		rc = attempt_once(c, a, deadline, err);
	return rc;
}
