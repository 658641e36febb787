/* SPDX-License-Identifier: Apache-2.0 */
#include "core/acquire.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/multi.h"

/* ---- Release ------------------------------------------------------------- */

static int lost_error(const struct dlki_claim *claim, struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_ELOST, "%s '%s' was lost: %s",
			dlki_kind_name(claim->record->kind),
			claim->record->name, claim->why);
}

static dlk_time within_close(const struct dlock_client *c, dlk_time deadline)
{
	dlk_time most = dlki_after_ms(dlk_now(), c->close_ms);

	return deadline < most ? deadline : most;
}

/* The write side is over, its read side is kept. */
static void downgrade(struct dlki_claim *claim, dlk_time deadline)
{
	struct dlock_client *c = claim->client;
	struct dlk_error err = { 0 };

	if (claim->state != DLKI_HELD || claim->downgraded || c->closing ||
	    !c->backend->downgrade)
		return;
	deadline = within_close(c, deadline);
	if (!dlki_claim_seize(claim, deadline))
		return;
	if (claim->state == DLKI_HELD) {
		int rc;

		pthread_mutex_unlock(&c->mu);
		rc = c->backend->downgrade(claim->ticket, deadline, &err);
		pthread_mutex_lock(&c->mu);
		claim->downgraded = rc == 0;
		if (rc == DLOCK_ELOST && claim->state == DLKI_HELD)
			dlki_claim_lose(claim, "the store no longer has it");
	}
	dlki_claim_yield(claim);
}

/* Tell the store; what it does not confirm is the keeper's.  What it has no
 * more is no loss if the lease, which ended at `end`, is over by now. */
static int tell(struct dlki_claim *claim, dlk_time end, dlk_time deadline,
		struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc;

	deadline = within_close(c, deadline);
	if (!dlki_claim_seize(claim, deadline)) {
		dlki_claim_clean_later(claim, 0);
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"the store is still busy with a renewal");
	}
	pthread_mutex_unlock(&c->mu);
	rc = c->backend->release(claim->ticket, deadline, err);
	pthread_mutex_lock(&c->mu);
	if ((rc != 0 && rc != DLOCK_ELOST) || claim->unsure)
		dlki_claim_clean_later(claim, 0);
	else
		dlki_claim_gone(claim);
	dlki_claim_yield(claim);
	if (rc == 0 || (rc == DLOCK_ELOST && dlk_now() >= end))
		return 0;
	if (rc == DLOCK_ELOST) {
		dlki_claim_explain(claim, "the store no longer had it");
		return lost_error(claim, err);
	}
	dlki_reason(err, rc, c->uri->scheme);
	err->code = DLOCK_EUNREACHABLE;
	return err->code;
}

/* A callback may use the hold that it is about until it returns. */
static void await_callback(const dlock_hold *hold)
{
	const struct dlki_claim *claim = hold->claim;
	struct dlock_client *c = claim->client;

	while (claim->in_callback == hold && !dlki_events_here(c))
		dlki_wait(&c->changed, &c->mu, DLK_FOREVER);
}

/* The last hold of the claim is over. */
static int finish(struct dlki_claim *claim, dlk_time deadline,
		  struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	dlk_time end;
	int rc = 0;

	*claim->held_link = claim->held_next;
	if (claim->held_next)
		claim->held_next->held_link = claim->held_link;
	if (claim->state == DLKI_LOST) {
		rc = lost_error(claim, err);
		claim->state = DLKI_OVER;
	} else {
		claim->state = DLKI_OVER;
		end = atomic_exchange(&claim->valid_until, DLKI_EXPIRED);
		dlki_lease_remove(claim);
		c->stats.holds--;
		if (c->closing)
			dlki_claim_clean_later(claim, 0);
		else
			rc = tell(claim, end, deadline, err);
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
	    claim->thread == dlki_thread_serial())
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"%s '%s' is held by another thread, "
			"and only that thread may release it",
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
	c->calls++;
	if (!dlki_claim_valid(claim))
		dlki_claim_lose(claim, "the lease ran out");
	hold->count--;
	last = claim->own.count == 0 && claim->read.count == 0;
	/* The other side may be released meanwhile, when the client closes. */
	dlki_claim_ref(claim);
	if (hold->count == 0)
		await_callback(hold);
	if (last) {
		rc = finish(claim, deadline, err);
	} else {
		if (claim->own.count == 0)
			downgrade(claim, deadline);
		if (claim->state == DLKI_LOST)
			rc = lost_error(claim, err);
	}
	dlki_claim_unref(claim);
	c->calls--;
	if (c->closing)
		pthread_cond_broadcast(&c->changed);
	dlki_client_unlock(c);
	return rc;
}

int dlock_release(dlock_hold *hold)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc;

	if (!hold)
		rc = dlk_fail(&err, DLOCK_EINVAL, "hold is NULL");
	else if (hold->multi)
		rc = dlki_multi_release(hold, &err);
	else
		rc = dlki_release(hold, DLK_FOREVER, &err);
	if (rc != 0)
		dlki_report(&err);
	dlki_leave(border);
	return rc;
}

/* ---- Acquire ------------------------------------------------------------- */

static int acquire(dlock_lock *lock, enum dlk_mode mode, int64_t timeout_ms,
		   dlock_hold **out, struct dlk_error *err)
{
	struct dlki_wait w;

	if (!lock)
		return dlk_fail(err, DLOCK_EINVAL, "lock is NULL");
	if (!out)
		return dlk_fail(err, DLOCK_EINVAL, "out is NULL");
	w = dlki_wait_new(lock, timeout_ms);
	if (mode == DLK_SHARED &&
	    (lock->multi || lock->record->kind != DLK_RWLOCK))
		return dlk_fail(err, DLOCK_EINVAL,
				"only a read-write lock has "
				"a read side");
	if (lock->multi)
		return dlki_multi_acquire(lock, &w, out, err);
	if (lock->record->kind == DLK_SEMAPHORE)
		mode = DLK_SHARED;
	return dlki_acquire(lock, mode, &w, out, err);
}

static int public_acquire(dlock_lock *lock, enum dlk_mode mode,
			  int64_t timeout_ms, dlock_hold **out)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	int rc = acquire(lock, mode, timeout_ms, out, &err);

	if (rc != 0)
		dlki_report(&err);
	dlki_leave(border);
	return rc;
}

int dlock_acquire(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out)
{
	return public_acquire(lock, DLK_EXCLUSIVE, timeout_ms, out);
}

int dlock_acquire_shared(dlock_lock *lock, int64_t timeout_ms, dlock_hold **out)
{
	return public_acquire(lock, DLK_SHARED, timeout_ms, out);
}

/* ---- Questions about a hold ---------------------------------------------- */

int dlock_check(const dlock_hold *hold)
{
	if (!hold)
		return DLOCK_EINVAL;
	if (hold->multi)
		return dlki_multi_check(hold);
	if (hold->claim->client->process != dlki_process())
		return DLOCK_EFORKED;
	return dlki_claim_valid(hold->claim) ? DLOCK_OK : DLOCK_ELOST;
}

int64_t dlock_remaining_ms(const dlock_hold *hold)
{
	dlk_time until;

	if (!hold)
		return 0;
	if (hold->multi)
		return dlki_multi_remaining_ms(hold);
	if (dlock_check(hold) != DLOCK_OK)
		return 0;
	until = atomic_load(&hold->claim->valid_until);
	if (until == DLK_FOREVER)
		return -1;
	return dlki_ms_until(dlk_now(), until);
}

uint64_t dlock_token(const dlock_hold *hold)
{
	return hold && hold->claim ? hold->claim->ticket->token : 0;
}

int dlock_hold_fd(dlock_hold *hold)
{
	struct dlki_border border = dlki_enter();
	struct dlk_error err = { 0 };
	struct dlock_client *c;
	int fd;

	if (!hold) {
		fd = dlk_fail(&err, DLOCK_EINVAL, "hold is NULL");
	} else if (hold->multi) {
		fd = dlki_multi_fd(hold, &err);
	} else {
		c = hold->claim->client;
		fd = dlki_client_ours(c, &err);
		if (fd == 0) {
			pthread_mutex_lock(&c->mu);
			fd = dlki_claim_fd(hold->claim, &err);
			pthread_mutex_unlock(&c->mu);
		}
	}
	if (fd < 0)
		dlki_report(&err);
	dlki_leave(border);
	return fd;
}
