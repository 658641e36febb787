/* SPDX-License-Identifier: Apache-2.0 */
#include "core/release.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/lifecycle.h"
#include "core/record.h"
#include "core/schedule.h"
#include "core/stats.h"
#include "core/store.h"

static int fail_lost(const struct dlki_claim *claim, struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ELOST, "%s '%s' was lost: %s",
			dlki_kind_name(claim->record->kind),
			claim->record->name, claim->why);
}

static dlk_time within_close(const struct dlock_client *c, dlk_time now,
			     dlk_time deadline)
{
	dlk_time most = dlki_after_ms(now, c->close_ms);

	return deadline < most ? deadline : most;
}

/* The write side ends, its read side stays. */
static void downgrade_claim(struct dlki_claim *claim, dlk_time deadline)
{
	struct dlock_client *c = claim->client;
	struct dlk_error err = { 0 };

	if (claim->state != DLKI_HELD || claim->downgraded || c->closing ||
	    !c->backend->downgrade)
		return;
	deadline = within_close(c, dlk_now(), deadline);
	if (!dlki_claim_seize(claim, deadline))
		return;
	if (claim->state == DLKI_HELD) {
		int rc;

		pthread_mutex_unlock(&c->mu);
		rc = dlki_store_downgrade(claim->ticket, deadline, &err);
		pthread_mutex_lock(&c->mu);
		claim->downgraded = rc == 0;
		if (rc == DLOCK_ELOST && claim->state == DLKI_HELD)
			dlki_claim_lose(claim, "the store no longer has it");
	}
	dlki_claim_yield(claim);
}

/* Tell the store; if it does not confirm, the renewer goes on.  ELOST is not a
 * loss if the lease, which ended at `end`, has run out by now. */
static int release_in_store(struct dlki_claim *claim, dlk_time end,
			    dlk_time deadline, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc;

	deadline = dlk_deadline(deadline);
	if (!dlki_claim_seize(claim, deadline)) {
		dlki_claim_clean(claim);
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"the store is still busy with a renewal");
	}
	pthread_mutex_unlock(&c->mu);
	rc = dlki_store_release(claim->ticket, deadline, err);
	pthread_mutex_lock(&c->mu);
	claim->confirmed = rc == 0 || rc == DLOCK_ELOST;
	if (!claim->confirmed || claim->unsure)
		dlki_claim_clean(claim);
	else
		dlki_claim_gone(claim);
	dlki_claim_yield(claim);
	if (rc == 0 || (rc == DLOCK_ELOST && dlk_now() >= end))
		return 0;
	if (rc == DLOCK_ELOST) {
		dlki_claim_explain(claim, "the store no longer had it");
		return fail_lost(claim, err);
	}
	dlki_reason(err, rc, c->uri->scheme);
	err->code = DLOCK_EUNREACHABLE;
	if (dlk_now() >= deadline)
		dlk_fail(err, err->code,
			 "%s; close= in the URI gives it more "
			 "time",
			 err->text);
	return err->code;
}

/* A callback may use its hold until it returns. */
static void await_event_callback(const dlock_hold *hold)
{
	const struct dlki_claim *claim = hold->claim;
	struct dlock_client *c = claim->client;

	while (claim->in_callback == hold && !dlki_events_here(c))
		dlk_cond_wait(&c->changed, &c->mu, DLK_FOREVER);
}

/* The last hold of the claim has ended. */
static int end_claim(struct dlki_claim *claim, dlk_time deadline,
		     struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	dlk_time now = dlk_now();
	dlk_time end;
	int rc = 0;

	dlki_times_add(&c->stats.hold, now - claim->granted_at);
	*claim->held_link = claim->held_next;
	if (claim->held_next)
		claim->held_next->held_link = claim->held_link;
	if (claim->state == DLKI_LOST) {
		rc = fail_lost(claim, err);
		claim->state = DLKI_OVER;
	} else {
		claim->state = DLKI_OVER;
		end = atomic_exchange(&claim->valid_until, DLKI_EXPIRED);
		dlki_schedule_remove(claim);
		c->stats.holds--;
		if (c->closing)
			dlki_claim_clean(claim);
		else
			rc = release_in_store(claim, end,
					      within_close(c, now, deadline),
					      err);
		if (rc == DLOCK_ELOST)
			c->stats.lost++;
		else
			c->stats.released++;
	}
	dlki_claim_unref(claim);
	return rc;
}

int dlki_may_release(const dlock_hold *hold, struct dlk_error *err)
{
	const struct dlki_claim *claim = hold->claim;

	if (claim->record->kind == DLK_SEMAPHORE || claim->client->closing ||
	    claim->thread == DLKI_NO_THREAD ||
	    claim->thread == dlki_thread_serial())
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"%s '%s' is held by another thread, "
			"and only that thread may release it, unless the "
			"handle was unbound (dlock_lock_unbind)",
			dlki_kind_name(claim->record->kind),
			claim->record->name);
}

int dlki_release(dlock_hold *hold, dlk_time deadline, struct dlk_error *err)
{
	struct dlki_claim *claim = hold->claim;
	struct dlock_client *c = claim->client;
	int rc = dlki_client_ours(c, err);
	int last;

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	rc = dlki_may_release(hold, err);
	if (rc != 0) {
		pthread_mutex_unlock(&c->mu);
		return rc;
	}
	dlki_call_begin(c);
	if (!dlki_claim_valid(claim))
		dlki_claim_lose(claim, "the lease ran out");
	hold->count--;
	last = claim->own.count == 0 && claim->read.count == 0;
	/* The other side may be released meanwhile, when the client closes. */
	dlki_claim_ref(claim);
	if (hold->count == 0)
		await_event_callback(hold);
	if (last) {
		rc = end_claim(claim, deadline, err);
	} else {
		if (claim->own.count == 0)
			downgrade_claim(claim, deadline);
		if (claim->state == DLKI_LOST)
			rc = fail_lost(claim, err);
	}
	dlki_claim_unref(claim);
	dlki_call_end(c);
	dlki_client_unlock(c);
	return rc;
}
