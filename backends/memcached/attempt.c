/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts.
 *
 * A writer first takes the gate of a lock and then gets its mark; a reader
 * first makes sure of the mark, then takes a slot and then gets the gate.
 * In whichever order the server hears them, one of the two sees the other.
 * Without a mark there are no readers, and the writer has the lock.  With one
 * it gets the slots as well, and stays at the gate, where it keeps new readers
 * out, until they are empty.  A reader that sees the gate removes its
 * item again.  A mutex only ever asks as a writer.  A semaphore is its slots,
 * and a mark that says how many they are.
 */
#include "clock.h"
#include "polls.h"
#include "slot.h"
#include "uri.h"
#include "wish.h"

#define ROUNDS 4

/* ---- The gate ------------------------------------------------------------ */

/* A writer that is already at the gate waits for the slots to become empty, and
 * needs no mark. */
static size_t gate_batch(struct memc_ticket *t, const struct memc_conn *c,
			 struct memc_op ops[MEMC_BATCH_MAX])
{
	const struct dlk_request *request = &t->base.request;
	int known = t->claim.owned == MEMC_AT_GATE &&
		    dlki_memc_claim_is_here(&t->claim, &c->run);
	int end = known ? dlki_memc_slots(request) : MEMC_MARK + 1;
	size_t n = 0;

	ops[n] = dlki_memc_op(known ? MEMC_SWAP : MEMC_ADD, request, MEMC_GATE);
	ops[n].cas = t->claim.cas;
	ops[n].token = known ? t->claim.token : 0;
	ops[n++].add = known ? 0 : ++t->claim.adds;
	for (int at = known ? 0 : MEMC_MARK; at < end; at++)
		ops[n++] = dlki_memc_op(MEMC_GET, request, at);
	return n;
}

static int note_reader(struct memc_op *op, void *arg)
{
	struct memc_attempt *a = arg;

	dlki_memc_note_foreign(a, op);
	a->readers |= op->answer != MEMC_MISSING;
	return 0;
}

/* `seen`: the mark, or all slots, got after the gate was ours. */
static int look_for_readers(struct memc_conn *c, struct memc_attempt *a,
			    struct memc_op *seen, size_t n, dlk_time deadline,
			    struct dlk_error *err)
{
	const struct dlk_request *request = &a->t->base.request;
	int rc = 0;

	a->readers = 0;
	if (seen[0].slot != MEMC_MARK) {
		for (size_t i = 0; i < n; i++)
			(void)note_reader(&seen[i], a);
	} else if (seen[0].answer != MEMC_MISSING) {
		rc = dlki_memc_survey(c, request, 0, dlki_memc_slots(request),
				      note_reader, a, deadline, err);
		if (rc == 0)
			rc = dlki_memc_confirm(c, deadline, err);
	}
	if (rc == 0 && !a->readers)
		a->verdict = DLK_GRANTED;
	return rc;
}

static int attempt_gate(struct memc_conn *c, struct memc_attempt *a,
			dlk_time deadline, struct dlk_error *err)
{
	struct memc_ticket *t = a->t;
	struct memc_op ops[MEMC_BATCH_MAX];

	a->verdict = DLK_BUSY;
	for (int i = 0; i < ROUNDS; i++) {
		size_t n = gate_batch(t, c, ops);
		int rc = dlki_memc_run(c, ops, n, deadline, err);

		if (rc != 0)
			return rc;
		switch (ops[0].answer) {
		case MEMC_DONE:
			dlki_memc_claim_accept(&t->claim, &c->run, &ops[0]);
			return look_for_readers(c, a, ops + 1, n - 1, deadline,
						err);
		case MEMC_MINE: /* from before: its lease must begin anew */
			dlki_memc_claim_accept(&t->claim, &c->run, &ops[0]);
			break;
		case MEMC_OTHER:
			t->claim.owned = MEMC_NOTHING;
			dlki_memc_note_foreign(a, &ops[0]);
			return dlki_memc_wish_after(c, t, ops[0].item.owner,
						    deadline, err);
		default:
			t->claim.owned = MEMC_NOTHING;
			break;
		}
	}
	return 0;
}

/* ---- Gate or slot -------------------------------------------------------- */

static int attempt_on(struct memc_conn *c, void *arg, dlk_time deadline,
		      struct dlk_error *err)
{
	struct memc_attempt *a = arg;
	int rc;

	a->c = c;
	a->foreign[0] = '\0';
	/* Not from before it waited for a connection. */
	a->t->base.since = dlk_now();
	if (a->t->base.since < c->run.grants_from) {
		a->verdict = DLK_FAILED;
		dlk_fail(err, DLOCK_EUNREACHABLE, MEMC_IS_YOUNG, c->net.peer);
		return 0;
	}
	if (a->t->base.request.mode == DLK_EXCLUSIVE)
		rc = attempt_gate(c, a, deadline, err);
	else
		rc = dlki_memc_attempt_slot(c, a, deadline, err);
	if (rc != 0)
		a->t->claim.unclear = 1;
	return rc;
}

/* The item may never expire, and nobody will release it. */
static void report_foreign(struct memc_session *s, const char *key,
			   struct dlk_error *err)
{
	dlk_fail(err, DLOCK_EBUSY, MEMC_IS_FOREIGN, key);
	if (!atomic_exchange(&s->foreign_logged, 1))
		dlk_log(&s->base, 1, "%s", err->text);
}

enum dlk_verdict dlki_memc_attempt(struct dlk_ticket *base, dlk_time deadline,
				   struct dlk_error *err)
{
	struct memc_ticket *t = memc_ticket(base);
	struct memc_attempt a;

	if (base->request.mode == DLK_SHARED &&
	    base->request.limit > MEMC_PERMITS) {
		dlk_fail(err, DLOCK_ENOTSUP, MEMC_TOO_MANY, base->request.name,
			 MEMC_PERMITS, (unsigned int)base->request.limit);
		return DLK_FAILED;
	}
	if (t->claim.asked && t->claim.owned == MEMC_NOTHING &&
	    !t->claim.unclear && dlki_memc_polls_busy(t))
		return DLK_BUSY;
	t->claim.asked = 1;
	a.t = t;
	if (dlki_memc_with_attempt(t, attempt_on, &a, deadline, err) != 0)
		return DLK_FAILED;
	t->granted = a.verdict == DLK_GRANTED;
	base->token = t->claim.token;
	if (a.verdict == DLK_BUSY)
		base->look_again = dlki_memc_polls_told(t);
	if (a.verdict == DLK_BUSY && a.foreign[0])
		report_foreign(memc_session(base->session), a.foreign, err);
	return a.verdict;
}
