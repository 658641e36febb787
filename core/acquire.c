/* SPDX-License-Identifier: Apache-2.0 */
#include "core/acquire.h"

#include "core/base/clock.h"
#include "core/guard.h"
#include "core/holder.h"
#include "core/keep.h"
#include "core/lifecycle.h"
#include "core/log.h"
#include "core/pass.h"
#include "core/reenter.h"
#include "core/schedule.h"
#include "core/store.h"

static void begin_backoff(struct dlki_backoff *b, struct dlock_client *c)
{
	const struct dlk_session *s = c->session;
	uint64_t seed;

	pthread_mutex_lock(&c->mu);
	seed = dlki_owner_seed(&c->owners);
	pthread_mutex_unlock(&c->mu);
	dlki_backoff_init(b, s->poll_min_ms, s->poll_max_ms, seed);
}

/* The time of the next attempt, unless a wake comes first. */
static dlk_time next_attempt(const struct dlki_claim *claim, int rc,
			     const struct dlki_wait *w, struct dlki_backoff *b)
{
	const struct dlk_session *s = claim->client->session;
	dlk_time now = dlk_now();
	dlk_time next = DLK_FOREVER;

	if (b->max_us == 0)
		begin_backoff(b, claim->client);
	if (rc != DLOCK_EBUSY)
		next = now + dlki_backoff_next(b);
	else if (claim->ticket->look_again != 0)
		next = claim->ticket->look_again;
	else if (!(s->caps & DLOCK_CAP_WAKE))
		next = now + dlki_backoff_next(b);
	if (next < now + DLK_MS / 2)
		next = now + DLK_MS / 2;
	return next < w->deadline ? next : w->deadline;
}

/* ---- The loop ------------------------------------------------------------ */

int dlki_acquire_was_busy(const struct dlki_acquire *a, struct dlk_error *err)
{
	const struct dlki_record *r = a->lock->record;

	if (a->busy)
		return dlk_fail(err, DLOCK_EBUSY,
				"%s '%s': held by others when the store last "
				"answered, which was not at the deadline",
				dlki_kind_name(r->kind), r->name);
	return a->claim->behind ? dlki_holder_here(r, err) : 0;
}

/* The deadline has come, and the last request returned `rc`.  If the store has
 * answered BUSY before, the lock is busy, even without a last answer. */
static int fail_at_deadline(const struct dlki_acquire *a, int rc,
			    struct dlk_error *err)
{
	const struct dlki_record *r = a->lock->record;

	if (rc == DLOCK_EBUSY && err->code == DLOCK_EBUSY)
		return dlk_fail(err, DLOCK_EBUSY, "%s '%s': %s",
				dlki_kind_name(r->kind), r->name, err->text);
	if (rc == DLOCK_EBUSY)
		return rc; /* dlki_acquire_run() says more */
	if (a->busy)
		return dlki_acquire_was_busy(a, err);
	if (a->in_vain)
		return dlk_fail(err, rc,
				"%s; the request had %lld ms: ask= in the URI "
				"gives it more",
				err->text,
				(long long)((a->limit - a->asked_at) / DLK_MS));
	return rc;
}

/* An attempt has failed: for want of time?  A backend may give up early, with
 * too little time left for an answer. */
static void note_failed(struct dlki_acquire *a, int rc)
{
	dlk_time had = a->limit - a->asked_at;

	a->in_vain = rc == DLOCK_EUNREACHABLE && had >= DLK_MS &&
		     dlk_now() - a->asked_at >= had / 2;
}

/* The thread renews other claims, and asks again unless there was overtime. */
static int is_cut_short(const struct dlki_acquire *a)
{
	struct dlock_client *c = a->claim->client;

	return a->in_vain && c->attendant && !a->claim->ticket->overtime &&
	       dlki_wait_has_time(c, a->wait);
}

static int limit_passed(const struct dlki_wait *w)
{
	return dlk_now() >= dlki_after_ms(w->deadline, w->patience.ask_ms);
}

/* An attempt has failed, and released no kept claim.  While the record has a
 * kept claim, no waiter pauses: the renewer releases the kept claim instead. */
static void unkeep(struct dlki_record *r)
{
	struct dlock_client *c = r->client;

	pthread_mutex_lock(&c->mu);
	if (r->kept)
		dlki_claim_unkeep(r->kept);
	pthread_mutex_unlock(&c->mu);
}

static int attempt_until_granted(struct dlki_acquire *a, dlk_time now,
				 struct dlk_error *err)
{
	struct dlki_claim *claim = a->claim;
	struct dlki_wait *w = a->wait;
	struct dlock_client *c = claim->client;

	for (;; now = dlk_now()) {
		int rc = dlki_attempt(a, now, err);
		int last = claim->ticket->last;

		if (rc == DLKI_ASKS)
			return rc;
		if (last)
			w->deadline += claim->ticket->overtime;
		if (rc == DLKI_GRANTED || rc == DLKI_TOO_LATE)
			return rc;
		if (rc != DLOCK_EBUSY && rc != DLOCK_EUNREACHABLE)
			return rc;
		a->busy |= rc == DLOCK_EBUSY;
		if (rc != DLOCK_EBUSY &&
		    !dlki_away_failed(c, claim->record->name, err))
			dlki_log_failed(c, DLKI_INFO, claim->record->name, err,
					"");
		if (rc != DLOCK_EBUSY &&
		    dlki_wait_cancelled(claim, w, err) != 0)
			return err->code;
		note_failed(a, rc);
		if (rc != DLOCK_EBUSY)
			unkeep(claim->record);
		/* Another attempt would have no time, and tell less. */
		if (limit_passed(w) || (last && !is_cut_short(a)))
			return fail_at_deadline(a, rc, err);
		now = last ? dlk_now() + DLK_MS :
			     next_attempt(claim, rc, w, &a->backoff);
		rc = dlki_wait_park(claim, a->lock, w, now, err);
		if (rc != 0)
			return rc;
	}
}

/* Clean up: release at once if the store answers; else the renewer releases, or
 * dlock_close() if it waits for us.  After a cancelled wait, only the rest of
 * the wait's `ask` time is spent on this.  Where no thread waits for an answer,
 * the renewer releases. */
static void give_up_claim(struct dlki_claim *claim, struct dlki_wait *w, int rc)
{
	struct dlock_client *c = claim->client;
	struct dlk_error err = { 0 };
	dlk_time now = dlk_now();
	dlk_time limit = dlk_deadline(dlki_wait_io_limit(c, w, now));
	int left = 1;
	int closing;

	pthread_mutex_lock(&c->mu);
	closing = c->closing;
	dlki_claim_end_upgrade(claim);
	dlki_claim_move(claim, DLKI_RELEASING);
	pthread_mutex_unlock(&c->mu);
	if (limit <= now && dlki_patience_over(&w->patience))
		rc = DLOCK_EUNREACHABLE;
	/* A claim that was never sent is released without a request. */
	if (((rc != DLOCK_EUNREACHABLE && !(c->attendant && w->no_wait)) ||
	     claim->residue.is == DLKI_NONE) &&
	    !closing)
		DLKI_STORE(c, left = c->backend->release(claim->ticket, limit,
							 &err));
	pthread_mutex_lock(&c->mu);
	claim->call = NULL;
	dlki_claim_released(claim, left == 0 || left == DLOCK_ELOST);
	if (rc == DLOCK_EBUSY)
		c->stats.busy++;
	dlki_claim_unref(claim);
	pthread_mutex_unlock(&c->mu);
}

/* With mu held, which saves each acquire a mutex. */
static int enter_claim(struct dlki_acquire *a, struct dlk_error *err)
{
	const dlock_lock *lock = a->lock;
	struct dlki_claim *claim;
	int rc = dlki_claim_new(&claim, lock->record, a->mode, a->wait->terms,
				err);

	if (rc != 0)
		return rc;
	rc = dlki_claim_enter(claim, err);
	if (rc != 0) {
		dlki_claim_discard(claim);
		return rc;
	}
	claim->ticket->request.permits = a->wait->permits;
	dlki_claim_upgrade(claim, a->wait->beside);
	claim->thread = dlki_lock_thread(lock);
	claim->call = a->call;
	claim->begun_at = a->wait->begun;
	claim->behind = dlki_pass_possible(claim);
	claim->client->stats.asked++;
	a->claim = claim;
	return 0;
}

/* Ask for the holder last of all, when no claim of ours is in the way. */
static int fail_busy(struct dlki_record *r, const struct dlki_wait *w,
		     struct dlk_error *err)
{
	return dlki_holder_fail(
		r, w->beside, dlki_wait_io_limit(r->client, w, dlk_now()), err);
}

/* With mu held: have the renewer give the claim back to the store. */
static void leave_behind(struct dlki_claim *claim)
{
	claim->call = NULL;
	dlki_claim_end_upgrade(claim);
	if (dlki_residue_abandoned(&claim->residue))
		dlki_claim_clean(claim);
	else
		dlki_claim_gone(claim);
	dlki_claim_unref(claim);
}

/* The waiter's place in the store is of no use any more. */
static int accept_pass(struct dlki_claim *claim, dlock_hold **out)
{
	struct dlock_client *c = claim->client;

	pthread_mutex_lock(&c->mu);
	*out = &claim->passed->own;
	leave_behind(claim);
	dlki_call_end(c);
	pthread_mutex_unlock(&c->mu);
	return DLKI_GRANTED;
}

static int fail_late(const struct dlki_record *r, const struct dlki_wait *w,
		     struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%s '%s': the store answered after half of the lease; "
			"%s makes it longer",
			dlki_kind_name(r->kind), r->name,
			w->terms && w->terms->lease_ms > 0 ? "lease_ms" :
							     "ttl= in the URI");
}

/* The store granted a claim too late to be of use, or took the claim away, as
 * `err` tells then: another claim asks. */
static int ask_again(struct dlki_acquire *a, struct dlk_error *err)
{
	struct dlki_record *r = a->lock->record;
	struct dlki_wait *w = a->wait;
	int rc;

	a->claim = NULL;
	if (w->once || (err->code ? limit_passed(w) : dlk_now() >= w->deadline))
		return err->code != 0 ? err->code : fail_late(r, w, err);
	err->code = 0;
	pthread_mutex_lock(&r->client->mu);
	rc = enter_claim(a, err);
	pthread_mutex_unlock(&r->client->mu);
	if (rc != 0)
		return rc;
	return dlki_wait_park(a->claim, a->lock, w,
			      next_attempt(a->claim, rc, w, &a->backoff), err);
}

/* The lock is not passed on, and the store is asked next, unless no time is
 * left. */
static int await_pass(struct dlki_acquire *a, struct dlk_error *err)
{
	struct dlock_client *c = a->claim->client;
	int rc = dlki_pass_await(a->claim, a->lock, a->wait, err);

	if (rc == 0 && limit_passed(a->wait)) {
		pthread_mutex_lock(&c->mu);
		rc = dlki_acquire_was_busy(a, err);
		pthread_mutex_unlock(&c->mu);
	}
	if (rc == 0)
		a->claim->behind = 0;
	return rc;
}

int dlki_acquire_run(struct dlki_acquire *a, int rc, dlock_hold **out,
		     struct dlk_error *err)
{
	struct dlki_wait *w = a->wait;
	dlk_time now = a->begun ? dlk_now() : w->begun;

	a->begun = 1;
	for (;;) {
		if (rc == 0 && a->claim->behind) {
			rc = await_pass(a, err);
			now = dlk_now();
		}
		if (rc == 0)
			rc = attempt_until_granted(a, now, err);
		if (rc == DLKI_SLEEPS || rc == DLKI_ASKS)
			return rc;
		if (rc == DLKI_GRANTED) {
			*out = &a->claim->own;
			return rc;
		}
		if (rc == DLKI_PASSED)
			return accept_pass(a->claim, out);
		give_up_claim(a->claim, w, rc);
		if (rc == DLOCK_EBUSY && err->code == 0)
			return fail_busy(a->lock->record, w, err);
		if (rc != DLKI_TOO_LATE)
			return rc;
		rc = ask_again(a, err);
		if (!a->claim)
			return rc;
		now = dlk_now();
	}
}

void dlki_acquire_abandon(struct dlki_acquire *a)
{
	leave_behind(a->claim);
	a->claim = NULL;
}

int dlki_acquire_begin(struct dlki_acquire *a, dlock_hold **out,
		       struct dlk_error *err)
{
	struct dlki_record *r = a->lock->record;
	struct dlock_client *c = r->client;
	const struct dlki_wait *w = a->wait;
	struct dlki_claim *kept = NULL;
	int rc = DLKI_NOT_HELD;

	if (c->closing)
		return dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	if (!a->lock->unbound)
		rc = dlki_reenter(r, a->mode, w, out, err);
	if (rc != DLKI_NOT_HELD)
		return rc;
	if (a->mode == DLK_EXCLUSIVE && !w->beside && !w->terms)
		kept = dlki_keep_take(r, dlki_lock_thread(a->lock), w->begun);
	if (kept) {
		*out = &kept->own;
		return DLKI_GRANTED;
	}
	rc = enter_claim(a, err);
	if (rc == 0)
		dlki_call_begin(c);
	return rc;
}

int dlki_acquire_wait(dlock_lock *lock, enum dlk_mode mode, struct dlki_wait *w,
		      dlock_hold **out, struct dlk_error *err)
{
	struct dlock_client *c = lock->record->client;
	struct dlki_acquire a = { .lock = lock, .mode = mode, .wait = w };
	int rc = dlki_client_ours(c, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	rc = dlki_acquire_begin(&a, out, err);
	pthread_mutex_unlock(&c->mu);
	if (!a.claim)
		return rc;
	w->patience.ask_ms = dlki_ask_ms(&c->ask);
	dlki_patience_begin(&w->patience);
	rc = dlki_acquire_run(&a, 0, out, err);
	dlki_patience_end(&w->patience);
	if (rc != DLKI_GRANTED)
		dlki_client_end(c);
	return rc;
}
