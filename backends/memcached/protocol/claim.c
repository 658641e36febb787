/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/protocol/claim.h"

#include <string.h>

#define AFTER_NS (1000 * DLK_MS) /* most owners renew less often */

void dlki_memc_claim_own(struct memc_claim *claim, const struct memc_run *run,
			 const struct memc_op *op)
{
	claim->owned = op->slot == MEMC_GATE ? MEMC_AT_GATE : MEMC_IN_SLOT;
	claim->slot = op->slot;
	claim->cas = op->item.cas;
	claim->born_s = run->born_s;
	claim->epoch = run->epoch;
}

void dlki_memc_claim_accept(struct memc_claim *claim,
			    const struct memc_run *run,
			    const struct memc_op *op)
{
	dlki_memc_claim_own(claim, run, op);
	claim->token = op->item.token;
	claim->add = op->item.add;
}

int dlki_memc_claim_granted(const struct memc_claim *claim,
			    const struct memc_item *item)
{
	return item->add != 0 ? item->add == claim->add :
				item->token == claim->token;
}

int dlki_memc_claim_wishes(struct memc_claim *claim, const char *owner,
			   dlk_time now)
{
	if (strcmp(claim->in_the_way, owner) != 0) {
		memcpy(claim->in_the_way, owner, sizeof(claim->in_the_way));
		claim->wish_at = now + AFTER_NS;
	}
	if (!owner[0] || now < claim->wish_at)
		return 0;
	claim->wish_at = DLK_FOREVER;
	return 1;
}
