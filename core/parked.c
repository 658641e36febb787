/* SPDX-License-Identifier: Apache-2.0 */
#include "core/parked.h"

#include <string.h>

#include "core/pump.h"
#include "core/record.h"
#include "core/async.h"

/* A claim that parks again goes back to the same place, which is near the claim
 * removed last. */
static struct dlki_claim *last_before(struct dlki_record *r, uint64_t turn)
{
	struct dlki_claim *last = TAILQ_LAST(&r->parked, dlki_parked);
	struct dlki_claim *prev = r->parked_near;
	struct dlki_claim *next;

	if (last && last->turn < turn)
		return last;
	while (prev && prev->turn > turn)
		prev = TAILQ_PREV(prev, dlki_parked, in_parked);
	next = prev ? TAILQ_NEXT(prev, in_parked) : TAILQ_FIRST(&r->parked);
	while (next && next->turn < turn) {
		prev = next;
		next = TAILQ_NEXT(next, in_parked);
	}
	return prev;
}

void dlki_parked_add(struct dlki_claim *claim)
{
	struct dlki_record *r = claim->record;
	struct dlki_claim *prev = last_before(r, claim->turn);

	if (prev)
		TAILQ_INSERT_AFTER(&r->parked, prev, claim, in_parked);
	else
		TAILQ_INSERT_HEAD(&r->parked, claim, in_parked);
}

void dlki_parked_remove(struct dlki_claim *claim)
{
	struct dlki_record *r = claim->record;
	struct dlki_claim *prev;

	if (!claim->in_parked.tqe_prev)
		return;
	prev = TAILQ_PREV(claim, dlki_parked, in_parked);
	TAILQ_REMOVE(&r->parked, claim, in_parked);
	claim->in_parked.tqe_prev = NULL;
	/* Grants remove the first claim while another claim asks again: the
	 * place of the latter stays known. */
	if (prev || r->parked_near == claim)
		r->parked_near = prev;
}

void dlki_parked_kick(struct dlki_record *r)
{
	struct dlki_claim *w;

	TAILQ_FOREACH(w, &r->parked, in_parked) {
		if (w->residue.is != DLKI_NONE)
			continue;
		if (w->woken == DLKI_NOT_WOKEN)
			w->woken = DLKI_WOKEN;
		if (w->call)
			dlki_async_rouse(w->call);
		else if (!dlki_pump_rouse(w))
			pthread_cond_broadcast(w->cond);
	}
}

static void report(const struct dlki_claim *w,
		   void (*each)(const struct dlock_participant *p, void *arg),
		   void *arg)
{
	const struct dlk_request *asks = &w->ticket->request;
	char id[9] = ""; /* the whole would be a secret */
	struct dlock_participant p = {
		.size = sizeof(p),
		.label = asks->label,
		.id = id,
		.remaining_ms = -1,
		.shared = w->own.side == DLK_SHARED,
		.waiting = 1,
		.permits = asks->permits,
	};

	memcpy(id, w->owner, sizeof(id) - 1);
	each(&p, arg);
}

void dlki_parked_report(const struct dlki_record *r,
			void (*each)(const struct dlock_participant *p,
				     void *arg),
			void *arg)
{
	const struct dlki_claim *w;

	TAILQ_FOREACH(w, &r->parked, in_parked)
		if (w->residue.is == DLKI_NONE)
			report(w, each, arg);
}
