/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/memcached/protocol/mark.h"

#include <string.h>

#include "backends/memcached/protocol/limit.h"

static int is_mark(const struct memc_op *seen)
{
	return seen->answer != MEMC_MISSING && seen->item.owner[0];
}

static int lives_for(const struct memc_run *run, const struct memc_op *seen,
		     int64_t s, dlk_time now)
{
	return seen->item.until_s >=
	       dlki_memc_run_uptime_most_s(run, now) + (uint64_t)s;
}

struct memc_op dlki_memc_mark_op(const struct memc_run *run,
				 struct memc_claim *claim,
				 const struct dlk_request *request,
				 const struct memc_op *seen, dlk_time now)
{
	struct memc_op op = dlki_memc_op(MEMC_GET, request, MEMC_MARK);

	if (seen->answer == MEMC_MISSING) {
		op.verb = MEMC_ADD;
		op.add = ++claim->adds;
		op.limit = claim->limit;
	} else if (is_mark(seen) && dlki_memc_limit_is_set(claim->limit) &&
		   !dlki_memc_limit_is_set(seen->item.limit)) {
		op = dlki_memc_mark_change(request, seen, claim->limit);
	} else if (is_mark(seen) &&
		   !lives_for(run, seen, run->lives.mark_s / 2, now)) {
		op.verb = MEMC_SWAP;
		op.cas = seen->item.cas;
		op.item = seen->item;
	}
	return op;
}

int dlki_memc_mark_lasts(const struct memc_run *run, const struct memc_op *seen,
			 dlk_time now)
{
	return is_mark(seen) && lives_for(run, seen, run->lives.exptime_s, now);
}

/* ---- A semaphore's mark -------------------------------------------------- */

uint32_t dlki_memc_mark_limit(const struct memc_op *seen)
{
	return is_mark(seen) ? seen->item.limit : 0;
}

int dlki_memc_mark_slots(const struct memc_op *seen)
{
	int slots = dlki_memc_limit_slots(dlki_memc_mark_limit(seen));

	return is_mark(seen) && slots < seen->item.slots ? seen->item.slots :
							   slots;
}

struct memc_op dlki_memc_mark_change(const struct dlk_request *request,
				     const struct memc_op *seen, uint32_t limit)
{
	struct memc_op op = dlki_memc_op(MEMC_SWAP, request, MEMC_MARK);

	op.cas = seen->item.cas;
	op.item = seen->item;
	op.item.limit = limit;
	op.item.slots = dlki_memc_mark_slots(seen);
	op.item.add++;
	return op;
}

struct memc_op dlki_memc_mark_narrow(const struct dlk_request *request,
				     const struct memc_op *seen, uint32_t limit)
{
	struct memc_op op = dlki_memc_mark_change(request, seen, limit);

	op.item.slots = 0;
	return op;
}

int dlki_memc_mark_stays(const struct memc_op *before, uint32_t limit,
			 const struct memc_op *seen)
{
	if (!is_mark(before))
		return dlki_memc_mark_limit(seen) == limit;
	return is_mark(seen) && seen->item.limit == before->item.limit &&
	       seen->item.add == before->item.add &&
	       strcmp(seen->item.owner, before->item.owner) == 0;
}

void dlki_memc_mark_learn(struct memc_claim *claim, const struct memc_op *seen)
{
	if (!dlki_memc_limit_is_set(dlki_memc_mark_limit(seen)))
		return;
	claim->limit = seen->item.limit;
}

/* ---- A reader's mark ---------------------------------------------------- */

void dlki_memc_mark_keep(struct memc_claim *claim, const struct memc_op *seen)
{
	memcpy(claim->mark_owner, seen->item.owner, sizeof(claim->mark_owner));
	claim->mark_add = seen->item.add;
}

int dlki_memc_mark_is_kept(const struct memc_claim *claim,
			   const struct memc_op *seen)
{
	return is_mark(seen) && seen->item.add == claim->mark_add &&
	       strcmp(seen->item.owner, claim->mark_owner) == 0;
}
