/* SPDX-License-Identifier: Apache-2.0 */
#include "core/acquire.h"

#include "core/backoff.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"

/* What an attempt came to, beside the error codes, which are negative. */
enum { GRANTED = 0, TOO_LATE = 1 };

struct dlki_wait dlki_wait_new(const dlock_lock *lock, int64_t timeout_ms)
{
	dlk_time now = dlk_now();
	struct dlki_wait w = {
		.begun = now,
		.deadline = timeout_ms < 0 ? DLK_FOREVER :
					     dlki_after_ms(now, timeout_ms),
		.once = timeout_ms == 0,
		.cancels = &lock->cancels,
		.cancels_seen = atomic_load(&lock->cancels),
	};

	return w;
}

/* ---- Re-entrancy --------------------------------------------------------- */

static int again(dlock_hold *hold, dlock_hold **out, struct dlk_error *err)
{
	if (hold->count == UINT32_MAX)
		return dlk_fail(err, DLOCK_EEXHAUSTED,
				"'%s' was acquired 2^32 - 1 times",
				hold->claim->record->name);
	hold->count++;
	*out = hold;
	return GRANTED;
}

/* With mu held.  This thread's hold, or what stands against taking another;
 * 1: it has none. */
static int reenter(struct dlki_record *r, enum dlk_mode mode, dlock_hold **out,
		   struct dlk_error *err)
{
	uint64_t me = dlki_thread_serial();
	struct dlki_claim *claim = r->held;

	if (r->kind == DLK_SEMAPHORE)
		return 1;
	while (claim && claim->thread != me)
		claim = claim->held_next;
	if (!claim)
		return 1;
	if (!dlki_claim_valid(claim))
		dlki_claim_lose(claim, "the lease ran out");
	if (claim->state == DLKI_LOST)
		return dlk_fail(err, DLOCK_ELOST,
				"%s '%s': this thread's "
				"earlier hold was lost (%s); release it first",
				dlki_kind_name(r->kind), r->name, claim->why);
	if (claim->own.side == mode && claim->own.count > 0)
		return again(&claim->own, out, err);
	if (mode == DLK_SHARED)
		return again(&claim->read, out, err);
	return dlk_fail(err, DLOCK_EDEADLK,
			"rwlock '%s': this thread holds "
			"the read side; release it before the write side",
			r->name);
}

/* ---- One attempt --------------------------------------------------------- */

/* Requests go on for `ask` past the caller's deadline: the last answer decides,
 * and a caller without any patience gets that long to hear one. */
static dlk_time io_limit(const struct dlock_client *c,
			 const struct dlki_wait *w, dlk_time now)
{
	dlk_time most = dlki_after_ms(now, c->request_ms);
	dlk_time limit = dlki_after_ms(w->deadline, c->ask_ms);

	return limit < most ? limit : most;
}

/* May what failed be done later?  Most backends tell only by the code. */
static int ambiguous(int code)
{
	return code != DLOCK_EINVAL && code != DLOCK_EDENIED &&
	       code != DLOCK_ENOTSUP && code != DLOCK_EEXHAUSTED;
}

/* With mu held: the store granted; is it worth having? */
static int accept(struct dlki_claim *claim, dlk_time now, struct dlk_error *err)
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
	end = dlki_lease_promise(claim);
	if (c->lease.ttl_ms > 0 && t->lease_ms >= c->lease.ttl_ms)
		least_ms = t->lease_ms / 2;
	if (c->lease.ttl_ms > 0 &&
	    dlki_lease_end(&c->lease, t->since, t->lease_ms) <=
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
	c->stats.holds++;
	dlki_lease_add(claim);
	return GRANTED;
}

/* Ask the store once.  GRANTED, TOO_LATE, EBUSY, or what failed. */
static int attempt(struct dlki_claim *claim, dlk_time now, dlk_time limit,
		   struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	struct dlk_ticket *t = claim->ticket;
	enum dlk_verdict verdict;
	int rc;

	t->look_again = 0;
	t->lease_ms = c->lease.ttl_ms;
	t->since = now;
	t->settled = 0;
	err->code = 0;
	verdict = c->backend->attempt(t, limit, err);
	if (verdict == DLK_FAILED)
		dlki_reason(err, DLOCK_EPROTO, c->uri->scheme);
	pthread_mutex_lock(&c->mu);
	c->stats.attempts++;
	if (c->lease.ttl_ms > 0 || c->max_hold_ms > 0)
		now = dlk_now(); /* else nothing ends */
	claim->server_until = dlki_after_ms(now, t->lease_ms);
	switch (verdict) {
	case DLK_GRANTED:
		rc = accept(claim, now, err);
		if (rc == GRANTED)
			c->calls--; /* the call needs the backend no more */
		break;
	case DLK_BUSY:
		rc = DLOCK_EBUSY;
		break;
	default:
		rc = err->code;
		claim->unsure |= !t->settled && ambiguous(rc);
		break;
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

/* ---- Parking ------------------------------------------------------------- */

static void park_begin(struct dlki_claim *claim, dlock_lock *lock)
{
	if (!claim->cond_ready) {
		dlki_cond_init(&claim->cond);
		claim->cond_ready = 1;
	}
	claim->wait_next = lock->waits;
	claim->wait_link = &lock->waits;
	if (claim->wait_next)
		claim->wait_next->wait_link = &claim->wait_next;
	lock->waits = claim;
	claim->client->stats.waiters++;
}

static void park_end(struct dlki_claim *claim)
{
	*claim->wait_link = claim->wait_next;
	if (claim->wait_next)
		claim->wait_next->wait_link = claim->wait_link;
	claim->client->stats.waiters--;
}

/* Sleep until woken or `until`.  0, or ECANCELED. */
static int park(struct dlki_claim *claim, dlock_lock *lock,
		const struct dlki_wait *w, dlk_time until,
		struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc = 0;

	pthread_mutex_lock(&c->mu);
	park_begin(claim, lock);
	for (;;) {
		if (c->closing)
			rc = dlk_fail(err, DLOCK_ECANCELED,
				      "the client was closed");
		else if (atomic_load(w->cancels) != w->cancels_seen)
			rc = dlk_fail(err, DLOCK_ECANCELED,
				      "the wait for %s '%s' was cancelled",
				      dlki_kind_name(claim->record->kind),
				      claim->record->name);
		if (rc != 0 || claim->woken || dlk_now() >= until)
			break;
		dlki_wait(&claim->cond, &c->mu, until);
	}
	park_end(claim);
	if (rc == 0 && !claim->woken && until < w->deadline)
		c->stats.polls++;
	claim->woken = 0;
	claim->lost_early = 0;
	pthread_mutex_unlock(&c->mu);
	return rc;
}

/* When to ask again if nothing wakes us before. */
static dlk_time next_look(const struct dlki_claim *claim, int rc,
			  const struct dlki_wait *w, struct dlki_backoff *b)
{
	const struct dlk_session *s = claim->client->session;
	dlk_time now = dlk_now();
	dlk_time next = DLK_FOREVER;

	if (b->max_ns == 0)
		dlki_backoff_init(b, s->poll_min_ms, s->poll_max_ms,
				  dlki_owner_seed(&claim->client->owners));
	if (rc != DLOCK_EBUSY)
		next = now + dlki_backoff_next(b);
	else if (claim->ticket->look_again != 0)
		next = claim->ticket->look_again;
	else if (!(s->caps & DLOCK_CAP_WAKE))
		next = now + dlki_backoff_next(b);
	if (next < now + DLKI_MS / 2)
		next = now + DLKI_MS / 2;
	return next < w->deadline ? next : w->deadline;
}

/* ---- The loop ------------------------------------------------------------ */

static int busy(const struct dlki_record *r, struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EBUSY,
			"%s '%s': held by others until the deadline",
			dlki_kind_name(r->kind), r->name);
}

static int ask(struct dlki_claim *claim, dlock_lock *lock,
	       const struct dlki_wait *w, dlk_time now,
	       struct dlki_backoff *backoff, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;

	for (;; now = dlk_now()) {
		int last = w->once || now >= w->deadline;
		int rc = attempt(claim, now, io_limit(c, w, now), err);

		if (rc == GRANTED || rc == TOO_LATE)
			return rc;
		if (rc != DLOCK_EBUSY && rc != DLOCK_EUNREACHABLE)
			return rc;
		if (rc == DLOCK_EUNREACHABLE)
			dlki_log(c, DLKI_INFO, "%s", err->text);
		if (last)
			return rc == DLOCK_EBUSY ? busy(claim->record, err) :
						   rc;
		rc = park(claim, lock, w, next_look(claim, rc, w, backoff),
			  err);
		if (rc != 0)
			return rc;
	}
}

/* Leave nothing behind: at once where the store answers, else by the keeper, or
 * by dlock_close() if that is waiting for us. */
static void give_up(struct dlki_claim *claim, const struct dlki_wait *w, int rc)
{
	struct dlock_client *c = claim->client;
	struct dlk_error err = { 0 };
	dlk_time now = dlk_now();
	int left = 1;
	int closing;

	pthread_mutex_lock(&c->mu);
	closing = c->closing;
	pthread_mutex_unlock(&c->mu);
	if (rc != DLOCK_EUNREACHABLE && !closing)
		left = c->backend->release(claim->ticket, io_limit(c, w, now),
					   &err);
	pthread_mutex_lock(&c->mu);
	claim->state = DLKI_OVER;
	if ((left != 0 && left != DLOCK_ELOST) || claim->unsure)
		dlki_claim_clean_later(claim, 0);
	else
		dlki_claim_gone(claim);
	if (rc == DLOCK_EBUSY)
		c->stats.busy++;
	dlki_claim_unref(claim);
	pthread_mutex_unlock(&c->mu);
}

static int enter(struct dlki_claim **out, struct dlki_record *r,
		 enum dlk_mode mode, struct dlk_error *err)
{
	struct dlock_client *c = r->client;
	struct dlki_claim *claim;
	int rc = dlki_claim_new(&claim, r, mode, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	rc = dlki_claim_enter(claim, err);
	if (rc == 0)
		c->stats.asked++;
	pthread_mutex_unlock(&c->mu);
	if (rc == 0)
		*out = claim;
	else
		dlki_claim_discard(claim);
	return rc;
}

static int acquire(dlock_lock *lock, enum dlk_mode mode,
		   const struct dlki_wait *w, dlock_hold **out,
		   struct dlk_error *err)
{
	struct dlki_backoff backoff = { 0 };
	struct dlki_claim *claim;
	int rc = GRANTED;

	do {
		int late = rc == TOO_LATE;

		rc = enter(&claim, lock->record, mode, err);
		if (rc != 0)
			return rc;
		if (late)
			rc = park(claim, lock, w,
				  next_look(claim, rc, w, &backoff), err);
		if (rc == 0)
			rc = ask(claim, lock, w, late ? dlk_now() : w->begun,
				 &backoff, err);
		if (rc == GRANTED) {
			*out = &claim->own;
			return rc;
		}
		give_up(claim, w, rc);
	} while (rc == TOO_LATE && !w->once && dlk_now() < w->deadline);
	if (rc == TOO_LATE)
		rc = dlk_fail(err, DLOCK_EUNREACHABLE,
			      "%s '%s': the store "
			      "answered when half the lease had gone",
			      dlki_kind_name(lock->record->kind),
			      lock->record->name);
	return rc;
}

int dlki_acquire(dlock_lock *lock, enum dlk_mode mode,
		 const struct dlki_wait *w, dlock_hold **out,
		 struct dlk_error *err)
{
	struct dlock_client *c = lock->record->client;
	int rc = dlki_client_ours(c, err);

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	if (c->closing)
		rc = dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	else
		rc = reenter(lock->record, mode, out, err);
	c->calls += rc == 1;
	pthread_mutex_unlock(&c->mu);
	if (rc != 1)
		return rc;
	rc = acquire(lock, mode, w, out, err);
	if (rc != GRANTED)
		dlki_client_end(c);
	return rc;
}
