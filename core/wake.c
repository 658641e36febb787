/* SPDX-License-Identifier: Apache-2.0 */
/* Backends' news for the core: any thread, any time, about any id. */
#include "core/async.h"
#include "core/lifecycle.h"
#include "core/release.h"
#include "core/schedule.h"

void dlk_wake(struct dlk_session *s, uint64_t id)
{
	struct dlock_client *c = s->core;
	struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = dlki_slots_find(&c->slots, id);
	if (claim && dlki_claim_asks(claim) && claim->woken == DLKI_NOT_WOKEN) {
		claim->woken = DLKI_WOKEN;
		c->stats.wakes++;
		dlki_claim_rouse_soon(claim);
	}
	pthread_mutex_unlock(&c->mu);
}

void dlk_go_on(struct dlk_session *s, uint64_t id)
{
	struct dlock_client *c = s->core;
	const struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = dlki_slots_find(&c->slots, id);
	if (claim && claim->call)
		dlki_async_go_on(claim->call);
	else /* a renewal or a clean-up */
		dlki_job_post(&c->schedule.job);
	pthread_mutex_unlock(&c->mu);
}

/* An asking claim may have been granted and lost before the core heard of the
 * grant: the next grant the core hears of is void. */
static void lose_or_wake(struct dlki_claim *claim, const char *why)
{
	if (claim->state == DLKI_KEPT) {
		dlki_claim_unkeep(claim);
	} else if (claim->state == DLKI_HELD) {
		dlki_claim_lose(claim, why);
	} else if (dlki_claim_asks(claim)) {
		claim->woken = DLKI_WOKEN_VOID;
		dlki_claim_rouse(claim);
	}
}

void dlk_lost(struct dlk_session *s, uint64_t id, const char *why)
{
	struct dlock_client *c = s->core;
	struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = dlki_slots_find(&c->slots, id);
	if (claim)
		lose_or_wake(claim, why);
	pthread_mutex_unlock(&c->mu);
}

void dlk_lost_all(struct dlk_session *s, const char *why)
{
	struct dlock_client *c = s->core;

	pthread_mutex_lock(&c->mu);
	for (uint32_t i = 0; i < c->slots.n; i++) {
		if (c->slots.v[i].item)
			lose_or_wake(c->slots.v[i].item, why);
	}
	pthread_mutex_unlock(&c->mu);
}

void dlk_released(struct dlk_session *s, uint64_t id, int rc)
{
	struct dlock_client *c = s->core;
	struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = dlki_slots_find(&c->slots, id);
	if (claim && claim->state == DLKI_RELEASING &&
	    claim->residue.is != DLKI_NONE)
		dlki_release_answered(claim, rc);
	pthread_mutex_unlock(&c->mu);
}

void dlk_verify_all(struct dlk_session *s)
{
	struct dlock_client *c = s->core;
	dlk_time now = dlk_now();

	pthread_mutex_lock(&c->mu);
	for (uint32_t i = 0; i < c->slots.n; i++) {
		struct dlki_claim *claim = c->slots.v[i].item;

		if (!claim)
			continue;
		if (claim->state == DLKI_KEPT) {
			dlki_claim_unkeep(claim);
		} else if (claim->state == DLKI_HELD &&
			   claim->work.place != 0) {
			dlki_schedule_work(claim, now);
		} else if (dlki_claim_asks(claim) &&
			   claim->woken == DLKI_NOT_WOKEN) {
			claim->woken = DLKI_WOKEN;
			dlki_claim_rouse(claim);
		}
	}
	pthread_mutex_unlock(&c->mu);
}
