/* SPDX-License-Identifier: Apache-2.0 */
#include "core/parked.h"

#include "core/pump.h"
#include "core/record.h"
#include "core/async.h"

/* A claim that parks again goes back to the same place, which is near the claim
 * removed last. */
static struct dlki_claim *last_before(const struct dlki_record *r,
				      uint64_t turn)
{
	struct dlki_claim *prev = r->parked_near;
	struct dlki_claim *next;

	if (r->parked_last && r->parked_last->turn < turn)
		return r->parked_last;
	while (prev && prev->turn > turn)
		prev = prev->parked_prev;
	next = prev ? prev->parked_next : r->parked;
	while (next && next->turn < turn) {
		prev = next;
		next = next->parked_next;
	}
	return prev;
}

void dlki_parked_add(struct dlki_claim *claim)
{
	struct dlki_record *r = claim->record;
	struct dlki_claim *prev = last_before(r, claim->turn);
	struct dlki_claim *next = prev ? prev->parked_next : r->parked;

	claim->parked_prev = prev;
	claim->parked_next = next;
	*(prev ? &prev->parked_next : &r->parked) = claim;
	*(next ? &next->parked_prev : &r->parked_last) = claim;
}

void dlki_parked_remove(struct dlki_claim *claim)
{
	struct dlki_record *r = claim->record;
	struct dlki_claim *prev = claim->parked_prev;
	struct dlki_claim *next = claim->parked_next;

	if (!prev && r->parked != claim)
		return;
	*(prev ? &prev->parked_next : &r->parked) = next;
	*(next ? &next->parked_prev : &r->parked_last) = prev;
	claim->parked_prev = claim->parked_next = NULL;
	/* Grants remove the first claim while another claim asks again: the
	 * place of the latter stays known. */
	if (prev || r->parked_near == claim)
		r->parked_near = prev;
}

void dlki_parked_kick(struct dlki_record *r)
{
	for (struct dlki_claim *w = r->parked; w; w = w->parked_next) {
		if (w->residue.is != DLKI_NONE)
			continue;
		if (w->news == DLKI_NO_NEWS)
			w->news = DLKI_CHANGED;
		if (w->call)
			dlki_async_rouse(w->call);
		else
			pthread_cond_broadcast(w->cond);
	}
}
