/* SPDX-License-Identifier: Apache-2.0 */
#include "core/keep.h"

#include "core/base/clock.h"
#include "core/cleanup.h"
#include "core/hold.h"
#include "core/lifecycle.h"
#include "core/record.h"
#include "core/registry.h"
#include "core/schedule.h"
#include "core/store.h"
#include "core/watch.h"

/* Waiters of this client get the claim at once, or it goes back to the
 * store. */
static int may_keep(const struct dlki_claim *claim)
{
	const struct dlki_record *r = claim->record;

	return dlki_watch_allows(claim) && TAILQ_EMPTY(&r->parked) && !r->kept;
}

/* When to release the claim. */
static dlk_time end_of_keep(const struct dlki_claim *claim, dlk_time now)
{
	const struct dlock_client *c = claim->client;
	dlk_time end = dlki_after_ms(now, c->keep_ms);
	dlk_time most = dlki_hold_fits_until(claim);

	return end < most ? end : most;
}

int dlki_keep(struct dlki_claim *claim, dlk_time deadline)
{
	dlk_time now;

	if (!may_keep(claim) || dlki_watch_refresh(claim, deadline) != 0)
		return 0;
	now = dlk_now();
	if (!may_keep(claim) || claim->watch->wanted ||
	    !dlki_hold_fits(claim, now))
		return 0;
	dlki_claim_keep(claim, end_of_keep(claim, now));
	return 1;
}

struct dlki_claim *dlki_keep_take(struct dlki_record *r, uint64_t thread,
				  dlk_time asked_at)
{
	struct dlki_claim *claim = r->kept;
	dlk_time now;

	if (!claim || claim->client->closing)
		return NULL;
	now = dlk_now();
	if (!dlki_hold_fits(claim, now))
		return NULL;
	dlki_claim_retake(claim);
	dlki_hold_begin(claim, dlki_hold_next(claim, thread, asked_at, now));
	claim->client->stats.retaken++;
	return claim;
}

/* The caller has seized the claim, and dlki_cleanup_settle() yields it. */
static void give_back(struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;
	const struct dlock_backend *b = c->backend;
	struct dlk_ticket *t = claim->ticket;
	dlk_time sent = dlk_now();
	dlk_time deadline = sent + DLKI_GIVE_UP_NS;
	struct dlk_error err = { 0 };
	int rc;

	pthread_mutex_unlock(&c->mu);
	DLKI_STORE(c, rc = DLKI_HAS(b, release_begin) ?
				   b->release_begin(t, deadline, &err) :
				   b->release(t, deadline, &err));
	pthread_mutex_lock(&c->mu);
	if (rc == DLK_SENT && claim->residue.is != DLKI_NONE) {
		dlki_claim_yield(claim);
		dlki_claim_unref(claim);
		return;
	}
	dlki_cleanup_settle(claim, sent, rc == DLK_SENT ? 0 : rc);
}

void dlki_keep_give_up(struct dlock_client *c)
{
	struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = c->given_up;
	c->given_up = NULL;
	if (claim && claim->state == DLKI_RELEASING && !claim->busy) {
		claim->busy = 1;
		give_back(claim);
	} else if (claim) {
		dlki_claim_unref(claim);
	}
	pthread_mutex_unlock(&c->mu);
}
