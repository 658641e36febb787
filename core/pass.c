/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pass.h"

#include "core/async.h"
#include "core/base/clock.h"
#include "core/hold.h"
#include "core/keep.h"
#include "core/lifecycle.h"
#include "core/parked.h"
#include "core/record.h"
#include "core/schedule.h"
#include "core/watch.h"

/* ---- The waiter ---------------------------------------------------------- */

/* This client's claim in the way, if it may be passed on. */
static struct dlki_claim *claim_ahead(const struct dlki_record *r)
{
	struct dlki_claim *h = LIST_FIRST(&r->held);

	while (h && !dlki_watch_allows(h))
		h = LIST_NEXT(h, in_list);
	return h;
}

/* Does the waiter get the claim before the other sessions? */
static int has_turn(const struct dlki_claim *waiter, const struct dlki_claim *h)
{
	const struct dlki_watch *w = h->watch;

	return !w->wanted || waiter->turn < w->wanted_turn ||
	       w->passes < h->client->passes;
}

int dlki_pass_possible(const struct dlki_claim *claim)
{
	const struct dlki_record *r = claim->record;

	return claim->own.side == DLK_EXCLUSIVE && !claim->terms &&
	       !claim->beside && (r->kept || claim_ahead(r) != NULL);
}

/* With mu held: the claim to wait for; NULL: ask the store. */
static struct dlki_claim *claim_to_await(const struct dlki_claim *waiter,
					 const struct dlki_wait *w)
{
	struct dlki_record *r = waiter->record;
	struct dlki_claim *h = claim_ahead(r);
	dlk_time now = dlk_now();

	if (!h || w->once || now >= w->deadline)
		return NULL;
	if (dlki_watch_state(h) != DLKI_UNWATCHED)
		return h;
	if (dlki_watch_refresh(h, dlk_deadline(dlki_wait_io_limit_here(
					  h->client, w, now))) != 0)
		return NULL;
	h = claim_ahead(r);
	return h && dlki_watch_state(h) != DLKI_UNWATCHED ? h : NULL;
}

int dlki_pass_await(struct dlki_claim *claim, dlock_lock *lock,
		    struct dlki_wait *w, struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc = 0;

	pthread_mutex_lock(&c->mu);
	while (rc == 0) {
		struct dlki_claim *h;

		claim->passed = dlki_keep_take(claim->record, claim->thread,
					       claim->begun_at);
		if (claim->passed) {
			claim->passed->undelivered = dlki_claim_handing(claim);
			rc = DLKI_PASSED;
			break;
		}
		h = claim_to_await(claim, w);
		if (!h || (dlki_watch_state(h) == DLKI_WATCHED &&
			   !has_turn(claim, h)))
			break;
		rc = dlki_wait_sleep(claim, lock, w, w->deadline, err);
	}
	pthread_mutex_unlock(&c->mu);
	return rc;
}

/* ---- The holder ---------------------------------------------------------- */

/* A call that asked before the waiter asks the store again, as when all waiters
 * have been woken, and stands before the waiter in the store's queue. */
static bool is_behind_a_call(const struct dlki_claim *waiter)
{
	const struct dlki_asyncs *all = &waiter->client->asyncs;
	const struct dlki_async *r;

	if (all->running_for == waiter->record &&
	    all->running_turn < waiter->turn)
		return true;
	TAILQ_FOREACH(r, &all->asking, in_queue) {
		const struct dlki_claim *claim = r->releasing ?
							 NULL :
							 r->acquire.claim;

		if (claim && claim->record == waiter->record &&
		    claim->turn < waiter->turn)
			return true;
	}
	return false;
}

/* The first waiter, if the claim is of use to it.  A reader, a waiter with
 * terms, or a waiter cancelled a moment ago is left to the store. */
static struct dlki_claim *first_waiter(const struct dlki_claim *h)
{
	struct dlki_claim *first = TAILQ_FIRST(&h->record->parked);

	if (!first || !dlki_watch_allows(h) ||
	    first->own.side != DLK_EXCLUSIVE || first->terms || first->beside ||
	    first->cancelled || is_behind_a_call(first))
		return NULL;
	return first;
}

/* Releases mu at the end. */
static void give_to(struct dlki_claim *waiter, struct dlki_claim *h,
		    dlk_time now)
{
	dlk_time end = dlki_hold_next(h, waiter->thread, waiter->begun_at, now);

	h->own.count = 1;
	h->undelivered = dlki_claim_handing(waiter);
	atomic_store(&h->valid_until, end);
	if (end != DLK_FOREVER)
		dlki_schedule_moved(h, end);
	if (h->watch->wanted && waiter->turn >= h->watch->wanted_turn)
		h->watch->passes++;
	h->client->stats.passed++;
	dlki_parked_remove(waiter);
	waiter->passed = h;
	dlki_claim_rouse_soon(waiter);
}

int dlki_pass_on(struct dlki_claim *h, dlk_time deadline)
{
	struct dlki_claim *next;
	dlk_time now;

	dlki_watch_settle(h, deadline);
	if (!first_waiter(h) || dlki_watch_refresh(h, deadline) != 0)
		return 0;
	next = first_waiter(h);
	now = dlk_now();
	if (!next || !has_turn(next, h) || !dlki_hold_fits(h, now))
		return 0;
	give_to(next, h, now);
	return 1;
}
