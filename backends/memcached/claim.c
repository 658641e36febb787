/* SPDX-License-Identifier: Apache-2.0 */
/* What a claim is made of. */
#include "memcached.h"

int dlki_memc_slots(const struct dlk_claim *claim)
{
	switch (claim->kind) {
	case DLK_RWLOCK:
		return MEMC_READERS;
	case DLK_SEMAPHORE:
		return claim->limit < MEMC_PERMITS ? (int)claim->limit :
						     MEMC_PERMITS;
	default:
		return 0;
	}
}

int dlki_memc_gated(const struct dlk_claim *claim)
{
	return claim->kind != DLK_SEMAPHORE;
}

struct memc_op dlki_memc_op(enum memc_verb verb, const struct dlk_claim *claim,
			    int slot)
{
	return (struct memc_op){ .verb = verb, .claim = claim, .slot = slot };
}

int dlki_memc_survey(struct memc_conn *c, const struct dlk_claim *claim,
		     int gate, int (*each)(struct memc_op *op, void *arg),
		     void *arg, dlk_time deadline, struct dlk_error *err)
{
	struct memc_op ops[MEMC_FLIGHT];
	int slots = dlki_memc_slots(claim);
	int next = gate ? MEMC_GATE : 0;

	while (next < slots) {
		size_t n = 0;
		int rc;

		for (; n < MEMC_FLIGHT && next < slots; next++)
			ops[n++] = dlki_memc_op(MEMC_LOOK, claim, next);
		rc = dlki_memc_run(c, ops, n, deadline, err);
		for (size_t i = 0; i < n && rc == 0; i++)
			rc = each(&ops[i], arg);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int dlki_memc_same(const struct memc_ticket *t, const struct memc_item *item)
{
	return item->add != 0 ? item->add == t->add :
				item->token == t->base.token;
}

void dlki_memc_note(struct memc_ticket *t, const struct memc_conn *c,
		    const struct memc_op *op)
{
	t->stake = op->slot == MEMC_GATE ? MEMC_AT_GATE : MEMC_IN_SLOT;
	t->slot = op->slot;
	t->cas = op->item.cas;
	t->connection = c->serial;
}
