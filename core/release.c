/* SPDX-License-Identifier: Apache-2.0 */
#include "core/release.h"

#include "core/async.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/cleanup.h"
#include "core/event.h"
#include "core/guard.h"
#include "core/keep.h"
#include "core/lifecycle.h"
#include "core/parked.h"
#include "core/pass.h"
#include "core/record.h"
#include "core/schedule.h"
#include "core/store.h"
#include "core/wait.h"

/* The answer to a release comes with the answer to the next request.  A client
 * without another request looks for the answer after a time between these. */
#define ANSWER_MIN_NS (20 * DLK_MS)
#define ANSWER_MAX_NS (1000 * DLK_MS)

static dlk_time within_close(const struct dlock_client *c, dlk_time now,
			     dlk_time deadline)
{
	dlk_time most = dlki_after_ms(now, c->close_ms);

	return deadline < most ? deadline : most;
}

/* The write side ends, the read side stays. */
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
		DLKI_STORE(c, rc = c->backend->downgrade(claim->ticket,
							 deadline, &err));
		pthread_mutex_lock(&c->mu);
		claim->downgraded = rc == 0;
		dlki_parked_kick(claim->record);
		if (rc == DLOCK_ELOST && claim->state == DLKI_HELD)
			dlki_claim_lose(claim, "the store no longer has it");
	}
	dlki_claim_yield(claim);
}

/* ---- Without waiting for the answer -------------------------------------- */

void dlki_release_answered(struct dlki_claim *claim, int rc)
{
	bool confirmed = rc == 0 || rc == DLOCK_ELOST;

	if (rc == DLOCK_ELOST && !claim->idle &&
	    dlk_now() < claim->lease_until) {
		claim->client->stats.lost++;
		dlki_claim_explain(claim, "the store no longer had it");
		dlki_event_afterwards(claim, DLOCK_LOST);
	}
	if (dlki_residue_released(&claim->residue, confirmed) == DLKI_GONE) {
		/* Otherwise the thread with the ticket sees to the claim. */
		if (!claim->busy)
			dlki_claim_gone(claim);
	} else if (confirmed && claim->is_cleanup) {
		dlki_claim_move(claim, DLKI_CLEANING);
	} else if (!claim->busy && claim->is_cleanup) {
		dlki_schedule_now(claim);
	}
}

/* Does the release need only a single request? */
static int may_send(const struct dlki_claim *claim)
{
	return claim->client->sends_releases &&
	       claim->residue.is == DLKI_STANDS &&
	       LIST_EMPTY(&claim->record->cleanups) && !claim->downgraded;
}

/* If the answer has not come by then, the renewer asks for the answer. */
static dlk_time answer_due(const struct dlock_client *c)
{
	int64_t ns = dlki_ask_ms(&c->ask) * DLK_MS;

	if (ns < ANSWER_MIN_NS)
		ns = ANSWER_MIN_NS;
	return dlk_now() + (ns < ANSWER_MAX_NS ? ns : ANSWER_MAX_NS);
}

/* ---- In the store -------------------------------------------------------- */

static int ask_store(const struct dlki_giving *g, struct dlk_error *err)
{
	struct dlki_claim *claim = g->claim;
	struct dlock_client *c = claim->client;
	const struct dlock_backend *b = c->backend;
	struct dlk_ticket *t = claim->ticket;
	struct dlki_async *call = claim->call;
	int sends = !(call && call->asks) && may_send(claim), rc;

	t->no_wait = call && call->wait.no_wait;
	pthread_mutex_unlock(&c->mu);
	DLKI_STORE(c, rc = sends ? b->release_begin(t, g->deadline, err) :
				   b->release(t, g->deadline, err));
	pthread_mutex_lock(&c->mu);
	t->no_wait = 0;
	if (rc == DLK_LATER)
		return DLKI_ASKS;
	if (rc == DLK_SENT && claim->residue.is != DLKI_NONE) {
		dlki_claim_await(claim, answer_due(c));
		return DLK_SENT;
	}
	dlki_claim_released(claim,
			    rc == 0 || rc == DLOCK_ELOST || rc == DLK_SENT);
	return rc;
}

/* Tell the store; without a confirmation, the renewer goes on.  ELOST is not a
 * loss if the lease, which ended at `end`, has run out by now. */
static int release_in_store(const struct dlki_giving *g, struct dlk_error *err)
{
	struct dlki_claim *claim = g->claim;
	struct dlock_client *c = claim->client;
	int rc = ask_store(g, err);

	if (rc == DLKI_ASKS)
		return rc;
	dlki_claim_yield(claim);
	if (rc == DLK_SENT)
		return 0;
	/* The new holder of a passed claim may still stand in the store's wait
	 * queue, in the way of other clients. */
	if (rc == 0)
		(void)dlki_cleanup_sweep(claim->record, g->deadline,
					 g->deadline, NULL);
	if (rc == 0 || (rc == DLOCK_ELOST && dlk_now() >= g->end))
		return 0;
	if (rc == DLOCK_ELOST) {
		dlki_claim_explain(claim, "the store no longer had it");
		return dlki_claim_fail_lost(claim, err);
	}
	dlki_reason(err, rc, c->uri->scheme);
	err->code = DLOCK_EUNREACHABLE;
	if (dlk_now() >= g->deadline)
		dlk_fail(err, err->code,
			 "%s; close= in the URI gives it more "
			 "time",
			 err->text);
	return err->code;
}

static void await_event_callback(const dlock_hold *hold)
{
	struct dlock_client *c = dlki_hold_claim(hold)->client;

	while (dlki_event_holds_up(hold) && !dlki_events_here(c))
		dlki_client_sleep(c, DLK_FOREVER);
}

/* A callback does not wait: the release of the write side may wait for the
 * callback. */
static void await_upgrades(const struct dlki_claim *read, dlk_time deadline)
{
	struct dlock_client *c = read->client;

	while (read->upgrades > 0 && !c->closing && !dlki_events_here(c) &&
	       dlk_now() < deadline)
		dlki_client_sleep(c, deadline);
}

enum what_next { TO_THE_STORE, TO_THE_RENEWER, PASSED, KEPT };

/* Does the client go on with the claim?  A waiter may come while the client
 * asks the store whether it may keep the claim. */
static enum what_next go_on(struct dlki_claim *claim, dlk_time deadline)
{
	if (dlki_pass_on(claim, deadline))
		return PASSED;
	if (claim->client->keep_ms == 0)
		return TO_THE_STORE;
	if (dlki_keep(claim, deadline))
		return KEPT;
	return dlki_pass_on(claim, deadline) ? PASSED : TO_THE_STORE;
}

/* The claim, which is not lost, goes back to the store: the store is asked next
 * if `g` has the claim. */
static int give_back(struct dlki_claim *claim, int by_renewer,
		     dlk_time deadline, struct dlki_giving *g,
		     struct dlk_error *err)
{
	int rc = 0;

	g->end = atomic_exchange(&claim->valid_until, DLKI_EXPIRED);
	g->deadline = dlk_deadline(deadline);
	dlki_claim_move(claim, DLKI_RELEASING);
	dlki_schedule_remove(claim);
	if (!by_renewer && !claim->client->closing) {
		if (dlki_claim_seize(claim, g->deadline)) {
			g->claim = claim;
			return 0;
		}
		rc = dlk_fail(err, DLOCK_EUNREACHABLE,
			      "the store is still busy with a renewal");
	}
	dlki_claim_clean(claim);
	dlki_parked_kick(claim->record);
	return rc;
}

static dlk_time note_end(struct dlki_claim *claim)
{
	dlk_time now = dlk_now();

	dlki_times_add(&claim->client->stats.hold, now - claim->begun_at);
	return now;
}

static void note_released(struct dlock_client *c, int rc)
{
	if (rc == DLOCK_ELOST)
		c->stats.lost++;
	else
		c->stats.released++;
}

/* The last hold of the claim has ended. */
static int end_hold(struct dlki_claim *claim, enum what_next next,
		    dlk_time deadline, struct dlki_giving *g,
		    struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	int rc = 0;

	if (next == PASSED) {
		c->stats.released++;
		return 0;
	}
	LIST_REMOVE(claim, in_list);
	if (claim->state == DLKI_LOST) {
		rc = dlki_claim_fail_lost(claim, err);
		dlki_claim_end_lost(claim);
	} else {
		c->stats.holds--;
		if (next != KEPT)
			rc = give_back(claim, next == TO_THE_RENEWER, deadline,
				       g, err);
		if (g->claim)
			return 0;
		note_released(c, rc);
	}
	dlki_claim_end_upgrade(claim);
	dlki_claim_unref(claim);
	return rc;
}

/* The read side outlives the write side beside it. */
static int check_upgrades(const struct dlki_claim *claim, struct dlk_error *err)
{
	if (claim->upgrades == 0 || claim->own.count + claim->read.count > 1 ||
	    !dlki_claim_has_upgrade(claim))
		return 0;
	return dlk_fail(err, DLOCK_EINVAL,
			"lock '%s': release the write side first, which "
			"dlock_upgrade() added or waits for",
			claim->record->name);
}

int dlki_may_release(const dlock_hold *hold, struct dlk_error *err)
{
	const struct dlki_claim *claim = dlki_hold_claim(hold);

	if (claim->record->kind == DLK_SEMAPHORE || claim->client->closing)
		return 0;
	if (claim->thread == DLKI_NO_THREAD ||
	    claim->thread == dlki_thread_serial())
		return check_upgrades(claim, err);
	return dlk_fail(err, DLOCK_EINVAL,
			"%s '%s' is held by another thread, "
			"and only that thread may release it, unless the "
			"handle was unbound (dlock_lock_unbind)",
			dlki_kind_name(claim->record->kind),
			claim->record->name);
}

int dlki_release_begin(dlock_hold *hold, bool *last, struct dlk_error *err)
{
	struct dlki_claim *claim = dlki_hold_claim(hold);
	int rc = dlki_may_release(hold, err);

	if (rc != 0)
		return rc;
	dlki_claim_expire(claim);
	hold->count--;
	/* The other side may be released meanwhile, when the client closes. */
	dlki_claim_ref(claim);
	*last = !dlki_claim_has_hold(claim);
	if (*last && claim->upgrades > 0 && !claim->client->closing)
		dlki_async_take_back(claim);
	return 0;
}

int dlki_release_go(dlock_hold *hold, int last, dlk_time deadline,
		    struct dlki_giving *g, struct dlk_error *err)
{
	struct dlki_claim *claim = dlki_hold_claim(hold);
	int rc = 0;

	g->claim = NULL;
	await_event_callback(hold);
	if (last) {
		deadline = within_close(claim->client, note_end(claim),
					deadline);
		await_upgrades(claim, deadline);
		rc = end_hold(claim, go_on(claim, deadline), deadline, g, err);
	} else {
		if (claim->own.count == 0)
			downgrade_claim(claim, deadline);
		if (claim->state == DLKI_LOST)
			rc = dlki_claim_fail_lost(claim, err);
	}
	if (!g->claim)
		dlki_claim_unref(claim);
	return rc;
}

int dlki_release_ask(const struct dlki_giving *g, struct dlki_async *call,
		     struct dlk_error *err)
{
	struct dlki_claim *claim = g->claim;
	int rc;

	claim->call = call;
	rc = release_in_store(g, err);
	if (rc == DLKI_ASKS)
		return rc;
	claim->call = NULL;
	dlki_parked_kick(claim->record);
	note_released(claim->client, rc);
	dlki_claim_end_upgrade(claim);
	dlki_claim_unref(claim); /* the hold's */
	dlki_claim_unref(claim);
	return rc;
}

int dlki_release_end(dlock_hold *hold, int last, dlk_time deadline,
		     struct dlk_error *err)
{
	struct dlki_giving g;
	int rc = dlki_release_go(hold, last, deadline, &g, err);

	return g.claim ? dlki_release_ask(&g, NULL, err) : rc;
}

int dlki_release_leave(dlock_hold *hold, struct dlk_error *err)
{
	struct dlki_claim *claim = dlki_hold_claim(hold);
	struct dlki_giving none = { 0 };
	int rc;

	note_end(claim);
	rc = end_hold(claim, TO_THE_RENEWER, 0, &none, err);
	dlki_claim_unref(claim);
	return rc;
}

int dlki_release(dlock_hold *hold, dlk_time deadline, struct dlk_error *err)
{
	struct dlock_client *c = dlki_hold_claim(hold)->client;
	int rc = dlki_client_ours(c, err);
	bool last;

	if (rc != 0)
		return rc;
	pthread_mutex_lock(&c->mu);
	rc = dlki_release_begin(hold, &last, err);
	if (rc == 0) {
		dlki_call_begin(c);
		rc = dlki_release_end(hold, last, deadline, err);
		dlki_call_end(c);
	}
	dlki_client_unlock(c);
	return rc;
}
