/* SPDX-License-Identifier: Apache-2.0 */
#include "core/wait.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/guard.h"
#include "core/parked.h"
#include "core/pump.h"
#include "core/record.h"
#include "core/async.h"

int dlki_timeout_check(int64_t timeout_ms, struct dlk_error *err)
{
	if (timeout_ms >= 0 || timeout_ms == DLOCK_FOREVER)
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"timeout_ms is %" PRId64 ": use DLOCK_FOREVER to wait "
			"for ever, and 0 to ask once",
			timeout_ms);
}

struct dlki_wait dlki_wait_new(dlock_lock *lock, int64_t timeout_ms)
{
	dlk_time now = dlk_now();
	int sticky = lock->sticky && timeout_ms != 0;
	struct dlki_wait w = {
		.begun = now,
		.deadline = timeout_ms < 0 ? DLK_FOREVER :
					     dlki_after_ms(now, timeout_ms),
		.once = timeout_ms == 0,
		.is_try = timeout_ms == 0,
		.patience = { .cancels = &lock->cancels,
			      .answered = sticky ? &lock->answered : NULL,
			      .seen = atomic_load(sticky ? &lock->answered :
							   &lock->cancels) },
	};

	return w;
}

int dlki_wait_begin(struct dlki_wait *w, struct dlk_error *err)
{
	if (!w->patience.answered || !dlki_patience_over(&w->patience))
		return 0;
	dlki_patience_answer(&w->patience);
	return dlk_fail(err, DLOCK_ECANCELED,
			"the wait was cancelled before it began");
}

dlk_time dlki_wait_end_limit(const struct dlock_client *c,
			     const struct dlki_wait *w, dlk_time now)
{
	dlk_time most = dlki_after_ms(now, c->request_ms);
	dlk_time limit = dlki_after_ms(w->deadline, w->patience.ask_ms);

	return limit < most ? limit : most;
}

dlk_time dlki_wait_io_limit_here(const struct dlock_client *c,
				 const struct dlki_wait *w, dlk_time now)
{
	dlk_time most = dlki_wait_end_limit(c, w, now), spare = most;

	if (c->attendant)
		spare = dlki_schedule_spare(&c->schedule, now);
	return spare < most ? spare : most;
}

dlk_time dlki_wait_io_limit(struct dlock_client *c, const struct dlki_wait *w,
			    dlk_time now)
{
	dlk_time limit;

	if (!c->attendant)
		return dlki_wait_end_limit(c, w, now);
	pthread_mutex_lock(&c->mu);
	limit = dlki_wait_io_limit_here(c, w, now);
	pthread_mutex_unlock(&c->mu);
	return limit;
}

int dlki_wait_has_time(struct dlock_client *c, const struct dlki_wait *w)
{
	int64_t slack_ms;

	pthread_mutex_lock(&c->mu);
	slack_ms = dlki_schedule_slack_ms(&c->schedule);
	pthread_mutex_unlock(&c->mu);
	return dlki_after_ms(dlk_now(), slack_ms) <
	       dlki_after_ms(w->deadline, w->patience.ask_ms);
}

int dlki_wait_cancelled(const struct dlki_claim *claim, struct dlki_wait *w,
			struct dlk_error *err)
{
	if (!dlki_patience_over(&w->patience))
		return 0;
	dlki_patience_answer(&w->patience);
	return dlk_fail(err, DLOCK_ECANCELED,
			"the wait for %s '%s' was cancelled",
			dlki_kind_name(claim->record->kind),
			claim->record->name);
}

void dlki_wait_pause(struct dlock_client *c, struct dlki_patience *p,
		     dlk_time until)
{
	pthread_mutex_lock(&c->mu);
	while (dlk_now() < until && !dlki_patience_over(p))
		dlki_client_sleep(c, until);
	pthread_mutex_unlock(&c->mu);
}

/* Has a thread a condition to sleep on?  A wake may use the condition without
 * mu, so the condition lasts as long as the claim. */
static int need_cond(struct dlki_claim *claim, struct dlk_error *err)
{
	if (claim->call || claim->cond)
		return 0;
	claim->cond = malloc(sizeof(pthread_cond_t));
	if (!claim->cond)
		return dlki_nomem(err);
	dlk_cond_init(claim->cond);
	return 0;
}

static void park_begin(struct dlki_claim *claim, dlock_lock *lock)
{
	LIST_INSERT_HEAD(&lock->waits, claim, in_list);
	dlki_parked_add(claim);
	dlki_claim_move(claim, DLKI_PARKED);
	claim->client->stats.waiters++;
}

void dlki_wait_end(struct dlki_claim *claim)
{
	LIST_REMOVE(claim, in_list);
	dlki_parked_remove(claim);
	dlki_claim_move(claim, DLKI_ASKING);
	claim->client->stats.waiters--;
}

/* Return the reason to end the sleep early: 0 if there is no reason. */
static int ended_by(const struct dlki_claim *claim, struct dlki_wait *w,
		    struct dlk_error *err)
{
	if (claim->passed)
		return DLKI_PASSED;
	if (claim->client->closing)
		return dlk_fail(err, DLOCK_ECANCELED, "the client was closed");
	return dlki_wait_cancelled(claim, w, err);
}

/* The next attempt of an upgrade is to fail: the read side has ended. */
static bool is_alone(const struct dlki_claim *claim)
{
	return claim->beside && claim->beside->state != DLKI_HELD;
}

/* A claim that has not asked the store has no news to expect there. */
static void sleep_once(struct dlki_claim *claim, dlk_time until)
{
	struct dlock_client *c = claim->client;

	if (c->pump.at == claim ||
	    ((c->attendant || claim->residue.is != DLKI_NONE) &&
	     dlki_pump_take(claim))) {
		dlki_pump_wait(claim, until);
		return;
	}
	c->pump.followers++;
	dlk_cond_wait(claim->cond, &c->mu, until);
	c->pump.followers--;
}

/* A kept claim wakes no waiter: a waiter that meets a kept claim takes it, or
 * has it released. */
int dlki_wait_resume(struct dlki_claim *claim, struct dlki_wait *w,
		     dlk_time until, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc;

	for (;;) {
		rc = ended_by(claim, w, err);
		if (rc != 0 || claim->woken != DLKI_NOT_WOKEN ||
		    claim->record->kept || is_alone(claim) ||
		    dlk_now() >= until)
			break;
		if (claim->call) {
			dlki_async_park(claim->call, until);
			return DLKI_SLEEPS;
		}
		sleep_once(claim, until);
	}
	dlki_pump_give(claim);
	dlki_wait_end(claim);
	if (rc == 0 && claim->woken == DLKI_NOT_WOKEN && until < w->deadline)
		c->stats.polls++;
	claim->woken = DLKI_NOT_WOKEN;
	return rc;
}

int dlki_wait_sleep(struct dlki_claim *claim, dlock_lock *lock,
		    struct dlki_wait *w, dlk_time until, struct dlk_error *err)
{
	if (need_cond(claim, err) != 0)
		return err->code;
	park_begin(claim, lock);
	return dlki_wait_resume(claim, w, until, err);
}

int dlki_wait_park(struct dlki_claim *claim, dlock_lock *lock,
		   struct dlki_wait *w, dlk_time until, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc;

	pthread_mutex_lock(&c->mu);
	rc = dlki_wait_sleep(claim, lock, w, until, err);
	pthread_mutex_unlock(&c->mu);
	return rc;
}
