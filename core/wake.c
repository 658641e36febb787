/* SPDX-License-Identifier: Apache-2.0 */
/* What backends tell the core: any thread, any time, about any id. */
#include "core/claim.h"

void dlk_wake(struct dlk_session *s, uint64_t id)
{
	struct dlock_client *c = s->core;
	struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = dlki_slots_find(&c->slots, id);
	if (claim && claim->state == DLKI_ASKING && !claim->woken) {
		claim->woken = 1;
		c->stats.wakes++;
		/* Not with mu held, which the waiter takes first of all. */
		if (claim->cond_ready) {
			dlki_claim_ref(claim);
			pthread_mutex_unlock(&c->mu);
			pthread_cond_broadcast(&claim->cond);
			pthread_mutex_lock(&c->mu);
			dlki_claim_unref(claim);
		}
	}
	pthread_mutex_unlock(&c->mu);
}

/* A claim that is being asked for may have been granted and lost before the
 * core heard of the grant: what it hears next is worth nothing. */
static void lose(struct dlki_claim *claim, const char *why)
{
	if (claim->state == DLKI_HELD) {
		dlki_claim_lose(claim, why);
	} else if (claim->state == DLKI_ASKING) {
		claim->lost_early = 1;
		claim->woken = 1;
		if (claim->cond_ready)
			pthread_cond_broadcast(&claim->cond);
	}
}

void dlk_lost(struct dlk_session *s, uint64_t id, const char *why)
{
	struct dlock_client *c = s->core;
	struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = dlki_slots_find(&c->slots, id);
	if (claim)
		lose(claim, why);
	pthread_mutex_unlock(&c->mu);
}

void dlk_lost_all(struct dlk_session *s, const char *why)
{
	struct dlock_client *c = s->core;

	pthread_mutex_lock(&c->mu);
	for (uint32_t i = 0; i < c->slots.n; i++) {
		if (c->slots.v[i].claim)
			lose(c->slots.v[i].claim, why);
	}
	pthread_mutex_unlock(&c->mu);
}
