/* SPDX-License-Identifier: Apache-2.0 */
#include "core/acquire.h"

#include "core/away.h"
#include "core/base/backoff.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/cleanup.h"
#include "core/guard.h"
#include "core/holder.h"
#include "core/lifecycle.h"
#include "core/log.h"
#include "core/reenter.h"
#include "core/schedule.h"
#include "core/stats.h"
#include "core/store.h"

/* The result of an attempt, beside the error codes, which are negative.
 * TOO_LATE: a grant with too little of its lease left. */
enum { GRANTED = 0, TOO_LATE = 1 };

/* What a call has learnt so far, from all of its claims. */
struct course {
	struct dlki_backoff backoff;
	int busy;       /* the store has answered that others have the lock */
	int64_t had_ms; /* the last attempt had so long, and was not answered;
			 * 0: it was, or was refused */
};

/* ---- One attempt --------------------------------------------------------- */

/* Is a retry of use?  Most backends tell by the code alone. */
static int may_be_done_later(int code)
{
	return code != DLOCK_EINVAL && code != DLOCK_EDENIED &&
	       code != DLOCK_ENOTSUP && code != DLOCK_EEXHAUSTED;
}

/* With mu held: the store granted the lock.  Is enough of the lease left?  If
 * so the call has all that it needs of the client. */
static int accept_grant(struct dlki_claim *claim, dlk_time now,
			struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	const struct dlk_ticket *t = claim->ticket;
	dlk_time end;
	int64_t least_ms = 0;

	if (c->closing)
		return dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	if (claim->lost_early)
		return TOO_LATE;
	claim->granted_at = now;
	end = dlki_schedule_promise(claim);
	if (c->schedule.ttl_ms > 0 && t->lease_ms >= c->schedule.ttl_ms)
		least_ms = t->lease_ms / 2;
	if (c->schedule.ttl_ms > 0 &&
	    dlki_schedule_end(&c->schedule, t->since, t->lease_ms) <=
		    dlki_after_ms(now, least_ms))
		return TOO_LATE;
	atomic_store(&claim->valid_until, end);
	claim->state = DLKI_HELD;
	claim->own.count = 1;
	claim->server_until = dlki_after_ms(now, t->lease_ms);
	claim->held_next = claim->record->held;
	claim->held_link = &claim->record->held;
	if (claim->held_next)
		claim->held_next->held_link = &claim->held_next;
	claim->record->held = claim;
	c->stats.granted++;
	dlki_times_add(&c->stats.wait, now - claim->asked_at);
	c->stats.holds++;
	dlki_schedule_add(claim);
	/* Here: in dlki_acquire() that would be another lock. */
	dlki_call_end(c);
	return GRANTED;
}

/* Ask the store once.  GRANTED, TOO_LATE, EBUSY, or what failed. */
static int attempt_once(struct dlki_claim *claim, dlk_time now, dlk_time limit,
			struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	struct dlk_ticket *t = claim->ticket;
	enum dlk_verdict verdict;
	int rc;

	t->look_again = 0;
	t->lease_ms = c->schedule.ttl_ms;
	t->since = now;
	t->settled = t->resent = t->crowded = 0;
	t->renew_from = 0;
	err->code = 0;
	verdict = dlki_store_attempt(t, limit, err);
	if (verdict == DLK_FAILED)
		dlki_reason(err, DLOCK_EPROTO, c->uri->scheme);
	else
		dlki_away_answered(c);
	pthread_mutex_lock(&c->mu);
	c->stats.attempts++;
	if (c->schedule.ttl_ms > 0 || c->max_hold_ms > 0)
		now = dlk_now(); /* else nothing ends */
	claim->server_until = dlki_after_ms(now, t->lease_ms);
	claim->unsure |= t->resent;
	claim->asked |= verdict != DLK_FAILED || !t->settled;
	switch (verdict) {
	case DLK_GRANTED:
		rc = accept_grant(claim, now, err);
		break;
	case DLK_BUSY:
		rc = DLOCK_EBUSY;
		break;
	default:
		rc = err->code;
		claim->unsure |= !t->settled &&
				 (t->crowded || may_be_done_later(rc));
		break;
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

/* If a pending clean-up of this client may be what makes the lock look busy,
 * release that first: it is not another holder. */
static int attempt_and_sweep(struct dlki_claim *claim, dlk_time now,
			     dlk_time limit, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc = attempt_once(claim, now, limit, err);
	int swept;

	if (rc != DLOCK_EBUSY)
		return rc;
	pthread_mutex_lock(&c->mu);
	swept = dlki_cleanup_sweep(claim->record, limit, err);
	pthread_mutex_unlock(&c->mu);
	if (swept < 0)
		return swept;
	return swept ? attempt_once(claim, dlk_now(), limit, err) : DLOCK_EBUSY;
}

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

	if (b->max_ns == 0)
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

/* The deadline has come, and the last request returned `rc`.  If the store has
 * answered BUSY before, the lock is busy, even without a last answer. */
static int fail_at_deadline(const struct course *course,
			    const struct dlki_record *r, int rc,
			    struct dlk_error *err)
{
	if (rc == DLOCK_EBUSY && err->code == DLOCK_EBUSY)
		return dlk_fail(err, DLOCK_EBUSY, "%s '%s': %s",
				dlki_kind_name(r->kind), r->name, err->text);
	if (rc == DLOCK_EBUSY)
		return rc; /* acquire_claim() says more */
	if (!course->busy && course->had_ms > 0)
		return dlk_fail(err, rc,
				"%s; the request had %lld ms: ask= in the URI "
				"gives it more",
				err->text, (long long)course->had_ms);
	if (course->busy)
		return dlk_fail(err, DLOCK_EBUSY,
				"%s '%s': held by others when the store last "
				"answered, which was not at the deadline",
				dlki_kind_name(r->kind), r->name);
	return rc;
}

/* An attempt that had from `begun` to `limit` has failed: for want of time?  A
 * backend may give up early, where too little is left for an answer. */
static void note_failed(struct course *course, int rc, dlk_time begun,
			dlk_time limit)
{
	dlk_time had = limit - begun;

	course->had_ms = 0;
	if (rc == DLOCK_EUNREACHABLE && dlk_now() - begun >= had / 2)
		course->had_ms = had / DLK_MS;
}

static int limit_passed(const struct dlki_wait *w)
{
	return dlk_now() >= dlki_after_ms(w->deadline, w->patience.ask_ms);
}

static int attempt_until_granted(struct dlki_claim *claim, dlock_lock *lock,
				 struct dlki_wait *w, dlk_time now,
				 struct course *course, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;

	for (;; now = dlk_now()) {
		int last = w->once || now >= w->deadline;
		dlk_time limit;
		int rc;

		w->patience.ask_ms = dlki_ask_ms(&c->ask);
		limit = dlki_wait_io_limit(c, w, now);
		claim->ticket->last = last;
		rc = attempt_and_sweep(claim, now, limit, err);
		if (rc == GRANTED || rc == TOO_LATE)
			return rc;
		if (rc != DLOCK_EBUSY && rc != DLOCK_EUNREACHABLE &&
		    !claim->ticket->crowded)
			return rc;
		course->busy |= rc == DLOCK_EBUSY;
		if (rc != DLOCK_EBUSY &&
		    !dlki_away_failed(c, claim->record->name, err))
			dlki_log_failed(c, DLKI_INFO, claim->record->name, err,
					"");
		if (rc != DLOCK_EBUSY &&
		    dlki_wait_cancelled(claim, w, err) != 0)
			return err->code;
		note_failed(course, rc, now, limit);
		/* Another attempt would have no time, and tell less. */
		if (last || limit_passed(w))
			return fail_at_deadline(course, claim->record, rc, err);
		rc = dlki_wait_park(
			claim, lock, w,
			next_attempt(claim, rc, w, &course->backoff), err);
		if (rc != 0)
			return rc;
	}
}

/* Leave nothing behind: release at once if the store answers; else the renewer
 * does it, or dlock_close() if that waits for us.  After a cancelled wait, only
 * the rest of its `ask` time is spent on this. */
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
	pthread_mutex_unlock(&c->mu);
	if (limit <= now && dlki_patience_over(&w->patience))
		rc = DLOCK_EUNREACHABLE;
	/* A claim that was never sent is released without a request. */
	if ((rc != DLOCK_EUNREACHABLE || !claim->asked) && !closing)
		left = dlki_store_release(claim->ticket, limit, &err);
	pthread_mutex_lock(&c->mu);
	claim->state = DLKI_OVER;
	claim->confirmed = left == 0 || left == DLOCK_ELOST;
	if (!claim->confirmed || claim->unsure)
		dlki_claim_clean(claim);
	else
		dlki_claim_gone(claim);
	if (rc == DLOCK_EBUSY)
		c->stats.busy++;
	dlki_claim_unref(claim);
	pthread_mutex_unlock(&c->mu);
}

/* With mu held, so that the way of each acquire has one lock less. */
static int enter_claim(struct dlki_claim **out, const dlock_lock *lock,
		       enum dlk_mode mode, const struct dlki_wait *w,
		       struct dlk_error *err)
{
	struct dlki_claim *claim;
	int rc = dlki_claim_new(&claim, lock->record, mode, err);

	if (rc != 0)
		return rc;
	rc = dlki_claim_enter(claim, err);
	if (rc != 0) {
		dlki_claim_discard(claim);
		return rc;
	}
	if (lock->unbound)
		claim->thread = DLKI_NO_THREAD;
	claim->asked_at = w->begun;
	claim->client->stats.asked++;
	*out = claim;
	return 0;
}

/* The holder is asked for last of all, when nothing of ours is in the way. */
static int fail_busy(struct dlki_record *r, const struct dlki_wait *w,
		     struct dlk_error *err)
{
	return dlki_holder_fail(r, dlki_wait_io_limit(r->client, w, dlk_now()),
				err);
}

/* A claim whose grant came too late is given up, and another one asks. */
static int acquire_claim(struct dlki_claim *claim, dlock_lock *lock,
			 enum dlk_mode mode, struct dlki_wait *w,
			 dlock_hold **out, struct dlk_error *err)
{
	struct dlki_record *r = lock->record;
	struct course course = { 0 };
	dlk_time now = w->begun;
	int rc = 0;

	for (;;) {
		if (rc == 0)
			rc = attempt_until_granted(claim, lock, w, now, &course,
						   err);
		if (rc == GRANTED) {
			*out = &claim->own;
			return rc;
		}
		give_up_claim(claim, w, rc);
		if (rc == DLOCK_EBUSY && err->code == 0)
			return fail_busy(r, w, err);
		if (rc != TOO_LATE)
			return rc;
		if (w->once || dlk_now() >= w->deadline)
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"%s '%s': the store answered after "
					"half of the lease; ttl= in the URI "
					"makes it longer",
					dlki_kind_name(r->kind), r->name);
		pthread_mutex_lock(&r->client->mu);
		rc = enter_claim(&claim, lock, mode, w, err);
		pthread_mutex_unlock(&r->client->mu);
		if (rc != 0)
			return rc;
		rc = dlki_wait_park(claim, lock, w,
				    next_attempt(claim, rc, w, &course.backoff),
				    err);
		now = dlk_now();
	}
}

int dlki_acquire(dlock_lock *lock, enum dlk_mode mode, struct dlki_wait *w,
		 dlock_hold **out, struct dlk_error *err)
{
	struct dlock_client *c = lock->record->client;
	struct dlki_claim *claim = NULL;
	int rc = dlki_client_ours(c, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	if (c->closing)
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	else if (lock->unbound)
		rc = DLKI_NOT_HELD;
	else
		rc = dlki_reenter(lock->record, mode, out, err);
	if (rc == DLKI_NOT_HELD)
		rc = enter_claim(&claim, lock, mode, w, err);
	if (claim)
		dlki_call_begin(c);
	pthread_mutex_unlock(&c->mu);
	if (!claim)
		return rc;
	w->patience.ask_ms = dlki_ask_ms(&c->ask);
	dlki_patience_begin(&w->patience);
	rc = acquire_claim(claim, lock, mode, w, out, err);
	dlki_patience_end(&w->patience);
	if (rc != GRANTED)
		dlki_client_end(c);
	return rc;
}
