/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include "uri.h"

#define ROUNDS 4

/* Without a byte of the operations, which most do not need. */
void dlki_memc_sweep_init(struct memc_sweep *w, struct memc_conn *c,
			  const struct dlk_request *request, dlk_time deadline,
			  struct dlk_error *err)
{
	w->t = NULL;
	w->c = c;
	w->request = request;
	w->last = 0;
	w->n = 0;
	w->more = 0;
	w->dropped = 0;
	w->deadline = deadline;
	w->err = err;
}

static int drop_noted(struct memc_sweep *w)
{
	int rc = dlki_memc_run(w->c, w->drop, w->n, w->deadline, w->err);

	for (size_t i = 0; i < w->n && rc == 0; i++) {
		w->more |= w->drop[i].answer == MEMC_OTHER;
		w->dropped |= w->drop[i].answer == MEMC_DONE && w->granted[i];
	}
	w->n = 0;
	return rc;
}

static int note_if_meant(struct memc_op *op, void *arg)
{
	struct memc_sweep *w = arg;

	if (w->t ? op->answer != MEMC_MINE :
		   op->answer == MEMC_MISSING || op->item.token > w->last)
		return 0;
	w->drop[w->n] = dlki_memc_op(MEMC_DROP, w->request, op->slot);
	w->drop[w->n].cas = op->item.cas;
	w->granted[w->n] = !w->t ||
			   dlki_memc_claim_granted(&w->t->claim, &op->item);
	return ++w->n < MEMC_BATCH_MAX ? 0 : drop_noted(w);
}

/* A ticket's are at the gate only, or in the slots only. */
int dlki_memc_sweep_all(struct memc_sweep *w)
{
	enum dlk_mode mode = w->request->mode;
	int first = w->t && mode == DLK_SHARED ? 0 : MEMC_GATE;
	int slots = w->t && mode == DLK_EXCLUSIVE ? 0 :
						    dlki_memc_slots(w->request);

	for (int i = 0; i < ROUNDS; i++) {
		int rc;

		w->more = 0;
		w->n = 0;
		rc = dlki_memc_survey(w->c, w->request, first, slots,
				      note_if_meant, w, w->deadline, w->err);
		if (rc == 0 && w->n > 0)
			rc = drop_noted(w);
		if (rc != 0 || !w->more)
			return rc;
	}
	return dlk_fail(w->err, DLOCK_EUNREACHABLE, MEMC_IS_BUSY,
			w->c->net.peer);
}
