/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lifecycle.h"

#include <sys/eventfd.h>

#include "core/base/error.h"
#include "core/pump.h"
#include "core/record.h"

int dlki_claim_enter(struct dlki_claim *claim, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;

	if (dlki_schedule_reserve(&c->schedule, (size_t)c->slots.n + 1) != 0)
		return dlki_nomem(err);
	claim->ticket->id = dlki_slots_add(&c->slots, claim);
	if (claim->ticket->id == 0)
		return dlki_nomem(err);
	c->refs++;
	claim->record->refs++;
	return 0;
}

void dlki_claim_rouse(struct dlki_claim *claim)
{
	if (!dlki_pump_rouse(claim) && claim->cond_ready)
		pthread_cond_broadcast(&claim->cond);
}

void dlki_claim_clean(struct dlki_claim *claim)
{
	struct dlki_record *r = claim->record;

	if (claim->needs_cleaning || claim->client->dead)
		return;
	claim->needs_cleaning = 1;
	claim->client->stats.pending_cleanups++;
	claim->cleanup_next = r->cleanups;
	claim->cleanup_link = &r->cleanups;
	if (claim->cleanup_next)
		claim->cleanup_next->cleanup_link = &claim->cleanup_next;
	r->cleanups = claim;
	dlki_claim_ref(claim);
	dlki_schedule_work(claim, dlk_now());
}

void dlki_claim_lose(struct dlki_claim *claim, const char *why)
{
	struct dlock_client *c = claim->client;

	if (claim->state != DLKI_HELD)
		return;
	claim->state = DLKI_LOST;
	atomic_store(&claim->valid_until, DLKI_EXPIRED);
	c->stats.lost++;
	c->stats.holds--;
	dlki_claim_explain(claim, why);
	if (claim->lost_fd >= 0)
		eventfd_write(claim->lost_fd, 1);
	dlki_schedule_remove(claim);
	dlki_event_post(claim, DLOCK_LOST);
	dlki_claim_clean(claim);
}

static void forget_cleanup(struct dlki_claim *claim)
{
	if (!claim->needs_cleaning)
		return;
	dlki_heap_remove(&claim->client->schedule.clean, &claim->work);
	*claim->cleanup_link = claim->cleanup_next;
	if (claim->cleanup_next)
		claim->cleanup_next->cleanup_link = claim->cleanup_link;
	claim->needs_cleaning = 0;
	claim->client->stats.pending_cleanups--;
	dlki_claim_unref(claim);
}

void dlki_claim_gone(struct dlki_claim *claim)
{
	if (claim->ticket->id != 0)
		dlki_slots_remove(&claim->client->slots, claim->ticket->id);
	claim->ticket->id = 0;
	forget_cleanup(claim);
}
