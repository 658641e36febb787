/* SPDX-License-Identifier: Apache-2.0 */
#include "core/acquire.h"

#include "core/ask.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/cleanup.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/schedule.h"
#include "core/store.h"

/* With mu held: the store granted the lock.  Is enough of the lease left?  If
 * so the call needs no more of the client. */
static int accept_grant(struct dlki_claim *claim, dlk_time now,
			struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	const struct dlk_ticket *t = claim->ticket;
	dlk_time asked_at = claim->begun_at, end;
	int64_t least_ms = 0;

	if (c->closing)
		return dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	if (claim->woken == DLKI_WOKEN_VOID) {
		(void)dlk_fail(err, DLOCK_EUNREACHABLE,
			       "%s '%s': the claim was taken away before the "
			       "call ended; try again",
			       dlki_kind_name(claim->record->kind),
			       claim->record->name);
		return DLKI_TOO_LATE;
	}
	claim->begun_at = now;
	dlki_schedule_granted(claim);
	end = dlki_schedule_promise(claim);
	if (c->schedule.ttl_ms > 0 && t->lease_ms >= c->schedule.ttl_ms)
		least_ms = dlki_schedule_lease_ms(claim) / 2;
	if (c->schedule.ttl_ms > 0 &&
	    dlki_schedule_first_end(claim) <= dlki_after_ms(now, least_ms))
		return DLKI_TOO_LATE;
	claim->token = t->token;
	c->stats.granted++;
	dlki_times_add(&c->stats.wait, now - asked_at);
	dlki_hold_begin(claim, end);
	claim->undelivered = dlki_claim_handing(claim);
	claim->call = NULL; /* the asker ends here */
	/* Here: the caller would lock once more. */
	dlki_call_end(c);
	return DLKI_GRANTED;
}

/* Ask the store once.  Once granted, the ticket is the renewer's, too. */
static int attempt_once(struct dlki_claim *claim, dlk_time now, dlk_time limit,
			int no_wait, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	struct dlk_ticket *t = claim->ticket;
	enum dlk_verdict verdict;
	int rc;

	t->look_again = 0;
	t->lease_ms = c->schedule.ttl_ms;
	t->since = now;
	t->settled = t->resent = 0;
	t->renew_from = 0;
	err->code = 0;
	t->no_wait = no_wait;
	DLKI_STORE(c, verdict = c->backend->attempt(t, limit, err));
	t->no_wait = 0;
	if (verdict == DLK_LATER)
		return DLKI_ASKS;
	if (verdict == DLK_FAILED)
		dlki_reason(err, DLOCK_EPROTO, c->uri->scheme);
	else
		dlki_away_answered(c);
	pthread_mutex_lock(&c->mu);
	c->stats.attempts++;
	if (c->schedule.ttl_ms > 0 || c->max_hold_ms > 0 || claim->terms)
		now = dlk_now(); /* else no hold ends */
	dlki_residue_asked(
		&claim->residue,
		dlki_sending_of(t, verdict == DLK_FAILED ? err->code : 0),
		dlki_schedule_forgotten(&c->schedule, now, t->lease_ms));
	switch (verdict) {
	case DLK_GRANTED:
		rc = accept_grant(claim, now, err);
		break;
	case DLK_BUSY:
		rc = DLOCK_EBUSY;
		break;
	default:
		rc = err->code;
		break;
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

/*
 * If a pending clean-up of this client may make the lock look busy, release the
 * clean-up first: it is no other holder.  But a request with less time than the
 * attempt took would stay without an answer: the connection would be lost, and
 * an attempt would leave another clean-up.
 */
static int attempt(struct dlki_claim *claim, dlk_time now, dlk_time limit,
		   int no_wait, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	dlk_time latest;
	int rc, swept;

	claim->ticket->overtime = 0;
	rc = attempt_once(claim, now, limit, no_wait, err);
	limit += claim->ticket->overtime;
	if (rc != DLOCK_EBUSY)
		return rc;
	latest = limit - (dlk_now() - now);
	pthread_mutex_lock(&c->mu);
	swept = dlki_cleanup_sweep(claim->record, latest, limit, err);
	pthread_mutex_unlock(&c->mu);
	if (swept < 0)
		return swept;
	if (swept == 0)
		return DLOCK_EBUSY;
	now = dlk_now();
	if (now > latest)
		return dlk_fail(err, DLOCK_EUNREACHABLE,
				"%s '%s': an earlier claim of this client was "
				"in the way, and no time was left to ask again",
				dlki_kind_name(claim->record->kind),
				claim->record->name);
	return attempt_once(claim, now, limit, no_wait, err);
}

static void set_times(struct dlki_acquire *a, dlk_time now)
{
	struct dlki_wait *w = a->wait;
	struct dlock_client *c = a->claim->client;

	w->patience.ask_ms = dlki_ask_ms(&c->ask);
	a->asked_at = now;
	a->limit = w->no_wait ? dlki_wait_end_limit(c, w, now) :
				dlki_wait_io_limit(c, w, now);
}

int dlki_attempt(struct dlki_acquire *a, dlk_time now, struct dlk_error *err)
{
	struct dlki_claim *claim = a->claim;
	struct dlk_ticket *t = claim->ticket;
	const struct dlki_wait *w = a->wait;
	int rc = 0;

	if (!a->asks && claim->beside)
		rc = dlki_claim_check_upgradeable(claim->beside, NULL, err);
	if (rc != 0)
		return rc;
	if (!a->asks) {
		set_times(a, now);
		t->last = w->once || now >= w->deadline;
		t->is_try = w->is_try;
	}
	rc = attempt(claim, a->asked_at, a->limit, w->no_wait, err);
	a->asks = rc == DLKI_ASKS;
	return rc;
}
