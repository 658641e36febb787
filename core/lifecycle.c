/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lifecycle.h"

#include <sys/eventfd.h>

#include "core/base/error.h"
#include "core/parked.h"
#include "core/pump.h"
#include "core/async.h"

int dlki_claim_enter(struct dlki_claim *claim, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;

	/* The schedule has room for the slots used before. */
	if (c->slots.first_free == 0 &&
	    dlki_schedule_reserve(&c->schedule, (size_t)c->slots.n + 1) != 0)
		return dlki_nomem(err);
	claim->ticket->id = dlki_slots_add(&c->slots, claim);
	if (claim->ticket->id == 0)
		return dlki_nomem(err);
	claim->turn = c->turns++;
	c->refs++;
	claim->record->refs++;
	return 0;
}

void dlki_claim_rouse(struct dlki_claim *claim)
{
	if (claim->call)
		dlki_async_rouse(claim->call);
	else if (!dlki_pump_rouse(claim) && claim->cond)
		pthread_cond_broadcast(claim->cond);
}

void dlki_claim_rouse_soon(struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;

	if (claim->call)
		dlki_async_rouse(claim->call);
	if (claim->call || dlki_pump_rouse(claim) || !claim->cond)
		return;
	dlki_claim_ref(claim);
	pthread_mutex_unlock(&c->mu);
	pthread_cond_broadcast(claim->cond);
	pthread_mutex_lock(&c->mu);
	dlki_claim_unref(claim);
}

static void add_cleanup(struct dlki_claim *claim, dlk_time at)
{
	LIST_INSERT_HEAD(&claim->record->cleanups, claim, in_cleanups);
	claim->is_cleanup = 1;
	claim->pause_ns = 0;
	dlki_claim_ref(claim);
	dlki_schedule_work(claim, at);
}

void dlki_claim_await(struct dlki_claim *claim, dlk_time at)
{
	claim->client->stats.pending_cleanups++;
	add_cleanup(claim, at);
}

void dlki_claim_clean(struct dlki_claim *claim)
{
	dlki_claim_await(claim, dlk_now());
	dlki_claim_move(claim, DLKI_CLEANING);
}

void dlki_claim_keep(struct dlki_claim *claim, dlk_time until)
{
	struct dlock_client *c = claim->client;

	atomic_store(&claim->valid_until, DLKI_EXPIRED);
	dlki_schedule_remove(claim);
	claim->record->kept = claim;
	c->stats.kept++;
	add_cleanup(claim, until);
	dlki_claim_move(claim, DLKI_KEPT);
}

/* KEPT no longer, but still among the clean-ups. */
static void end_keep(struct dlki_claim *claim)
{
	claim->record->kept = NULL;
	claim->client->stats.kept--;
}

void dlki_claim_unkeep(struct dlki_claim *claim)
{
	end_keep(claim);
	dlki_claim_move(claim, DLKI_CLEANING);
	claim->client->stats.pending_cleanups++;
	if (claim->work.place != 0)
		dlki_schedule_now(claim);
}

void dlki_claim_give_up(struct dlki_claim *claim, dlk_time at)
{
	end_keep(claim);
	dlki_claim_move(claim, DLKI_RELEASING);
	claim->idle = 1;
	claim->client->stats.pending_cleanups++;
	if (claim->work.place != 0)
		dlki_schedule_work(claim, at);
}

static void rouse_upgrades(const struct dlki_claim *claim)
{
	struct dlki_claim *p;

	TAILQ_FOREACH(p, &claim->record->parked, in_parked)
		if (p->beside == claim)
			dlki_claim_rouse(p);
}

void dlki_claim_lose(struct dlki_claim *claim, const char *why)
{
	struct dlock_client *c = claim->client;

	if (claim->state != DLKI_HELD ||
	    (!dlki_claim_has_hold(claim) && !dlki_claim_valid(claim)))
		return;
	atomic_store(&claim->valid_until, DLKI_EXPIRED);
	dlki_claim_move(claim, DLKI_LOST);
	c->stats.lost++;
	c->stats.holds--;
	dlki_claim_explain(claim, why);
	if (claim->lost_fd >= 0)
		eventfd_write(claim->lost_fd, 1);
	dlki_schedule_remove(claim);
	dlki_event_post(claim, DLOCK_LOST);
	dlki_claim_await(claim, dlk_now());
	dlki_parked_kick(claim->record);
	if (claim->upgrades > 0)
		rouse_upgrades(claim);
}

void dlki_claim_expire(struct dlki_claim *claim)
{
	const char *why = dlki_schedule_end(claim);

	if (dlki_claim_valid(claim))
		return;
	if (!why || claim->lease_until < claim->hold_until)
		why = "the lease ran out before it could be renewed";
	dlki_claim_lose(claim, why);
}

/* The reference is the caller's now. */
static void forget_cleanup(struct dlki_claim *claim)
{
	dlki_heap_remove(&claim->client->schedule.clean, &claim->work);
	LIST_REMOVE(claim, in_cleanups);
	claim->expiry.place = 0;
	claim->is_cleanup = 0;
}

void dlki_claim_retake(struct dlki_claim *claim)
{
	end_keep(claim);
	forget_cleanup(claim);
}

void dlki_claim_gone(struct dlki_claim *claim)
{
	bool was_cleanup = claim->is_cleanup;

	/* The store may have told the end while dlock_close() asked for the
	 * end. */
	if (claim->state == DLKI_GONE)
		return;
	if (claim->ticket->id != 0)
		dlki_slots_remove(&claim->client->slots, claim->ticket->id);
	claim->ticket->id = 0;
	if (claim->state == DLKI_KEPT)
		end_keep(claim);
	else if (was_cleanup)
		claim->client->stats.pending_cleanups--;
	if (was_cleanup)
		forget_cleanup(claim);
	claim->residue.is = DLKI_NONE;
	if (claim->state != DLKI_LOST)
		dlki_claim_move(claim, DLKI_GONE);
	if (was_cleanup)
		dlki_claim_unref(claim);
}

void dlki_claim_end_lost(struct dlki_claim *claim)
{
	dlki_claim_move(claim, claim->is_cleanup ? DLKI_CLEANING : DLKI_GONE);
}

void dlki_claim_released(struct dlki_claim *claim, bool confirmed)
{
	if (dlki_residue_released(&claim->residue, confirmed) == DLKI_GONE)
		dlki_claim_gone(claim);
	else
		dlki_claim_clean(claim);
}
