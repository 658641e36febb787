/* SPDX-License-Identifier: Apache-2.0 */
#include "core/watch.h"

#include <stdlib.h>
#include <sys/eventfd.h>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/event.h"
#include "core/hold.h"
#include "core/keep.h"
#include "core/lifecycle.h"
#include "core/parked.h"
#include "core/pump.h"
#include "core/record.h"
#include "core/registry.h"
#include "core/schedule.h"
#include "core/store.h"

#define CROWDED_NS (100 * DLK_MS)
#define OLD_NS (1000 * DLK_MS)

static int is_permit(const struct dlki_claim *claim)
{
	return claim->ticket->request.kind == DLK_SEMAPHORE;
}

/* Could the store tell the holder of a claim of this sort? */
static int has_watch(const struct dlki_claim *claim)
{
	if (is_permit(claim))
		return (claim->client->session->caps &
			DLOCK_CAP_REVOKE_PERMITS) != 0;
	return dlki_claim_excludes(claim) && !claim->beside;
}

static int is_watchable(const struct dlki_claim *claim)
{
	return claim->client->can_watch && !claim->client->closing &&
	       claim->state == DLKI_HELD && has_watch(claim);
}

int dlki_watch_allows(const struct dlki_claim *claim)
{
	return claim->client->watches && is_watchable(claim) &&
	       dlki_claim_excludes(claim) && !claim->terms &&
	       atomic_load(&claim->valid_until) != DLKI_EXPIRED;
}

static void note_wanted(struct dlki_claim *claim, uint64_t turn)
{
	claim->watch->wanted = 1;
	claim->watch->wanted_turn = turn;
	claim->watch->passes = 0;
	claim->record->crowded_until = dlk_now() + CROWDED_NS;
}

/* Tell the holder, if revocable. */
static void tell(struct dlki_claim *claim)
{
	if (!claim->revocable || claim->state != DLKI_HELD)
		return;
	claim->revocable = 0;
	claim->told_wanted = 1;
	if (claim->wanted_fd >= 0)
		eventfd_write(claim->wanted_fd, 1);
	dlki_event_post(claim, DLOCK_WANTED);
}

/* The answer does not say which waiters of the client came before the other
 * session: a message's word on that, `before`, stays true. */
static void note_answer(struct dlki_claim *claim,
			const struct dlki_watch *before, int rc)
{
	struct dlki_watch *w = claim->watch;

	w->token_last = claim->ticket->token_last;
	w->looked_at = dlk_now();
	if (w->token_heard == 0)
		w->token_heard = w->looked_at;
	w->state = DLKI_WATCHED;
	if (rc > 0) {
		note_wanted(claim, before->wanted ? before->wanted_turn : 0);
		w->passes = before->wanted ? before->passes : 0;
		tell(claim);
	}
	if (rc < 0 || !dlki_hold_has_token(claim)) {
		w->state = DLKI_UNWATCHED;
		claim->record->crowded_until = w->looked_at + CROWDED_NS;
	}
}

enum dlki_watching dlki_watch_state(const struct dlki_claim *claim)
{
	return claim->watch ? claim->watch->state : DLKI_UNWATCHED;
}

/* The claim's watch, or NULL: no memory. */
static struct dlki_watch *need_watch(struct dlki_claim *claim)
{
	if (claim->watch)
		return claim->watch;
	claim->watch = calloc(1, sizeof(*claim->watch));
	if (claim->watch)
		claim->watch->token_first = claim->token;
	return claim->watch;
}

/* The caller has seized the claim, which may be watched. */
static int ask_store(struct dlki_claim *claim, dlk_time deadline,
		     struct dlk_error *err)
{
	struct dlock_client *c = claim->client;
	struct dlki_watch *w = need_watch(claim);
	struct dlki_watch before;
	int rc;

	if (!w)
		return dlki_nomem(err);
	before = *w;
	/* A message counts from now on. */
	w->wanted = 0;
	w->state = DLKI_WATCH_BEGINS;
	pthread_mutex_unlock(&c->mu);
	DLKI_STORE(c,
		   rc = c->backend->watch_wanted(claim->ticket, deadline, err));
	pthread_mutex_lock(&c->mu);
	note_answer(claim, &before, rc);
	dlki_parked_kick(claim->record);
	return rc < 0 ? rc : 0;
}

bool dlki_watch_is_shared(const struct dlki_claim *claim)
{
	return dlki_watch_state(claim) == DLKI_WATCH_BEGINS &&
	       DLKI_HAS(claim->client->backend, renews_beside_watch);
}

static int is_fresh(const struct dlki_claim *claim, dlk_time now)
{
	return dlki_watch_state(claim) == DLKI_WATCHED &&
	       now - claim->watch->looked_at < OLD_NS &&
	       dlki_hold_has_token(claim);
}

static int refresh(struct dlki_claim *claim, dlk_time deadline)
{
	struct dlk_error err = { 0 };

	if (is_fresh(claim, dlk_now()))
		return 0;
	if (dlki_watch_allows(claim))
		(void)ask_store(claim, deadline, &err);
	return dlki_watch_allows(claim) &&
			       dlki_watch_state(claim) == DLKI_WATCHED ?
		       0 :
		       -1;
}

int dlki_watch_refresh(struct dlki_claim *claim, dlk_time deadline)
{
	dlk_time now = dlk_now();
	int rc = -1;

	if (is_fresh(claim, now))
		return 0;
	if (dlki_watch_state(claim) == DLKI_UNWATCHED &&
	    now < claim->record->crowded_until)
		return -1;
	/* The holder may release the claim while this thread waits for the
	 * ticket. */
	dlki_claim_ref(claim);
	if (dlki_claim_seize(claim, deadline)) {
		rc = refresh(claim, deadline);
		dlki_claim_yield(claim);
	}
	dlki_claim_unref(claim);
	return rc;
}

static int fail_revocable(const struct dlki_claim *claim, struct dlk_error *err)
{
	const struct dlock_client *c = claim->client;

	if (c->closing)
		return dlk_fail(err, DLOCK_ECANCELED, "the client is closed");
	if (claim->state != DLKI_HELD)
		return dlki_claim_fail_lost(claim, err);
	if (!c->can_watch)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"%s: the store cannot tell when others want a "
				"lock",
				c->uri->scheme);
	return dlk_fail(err, DLOCK_ENOTSUP,
			is_permit(claim) ?
				"%s: the store cannot tell the holders of "
				"permits" :
				"%s: a read side cannot be revocable, nor can "
				"a write side after dlock_upgrade()",
			c->uri->scheme);
}

int dlki_watch_revocable(struct dlki_claim *claim, dlk_time deadline,
			 struct dlk_error *err)
{
	int rc;

	if (!is_watchable(claim))
		return fail_revocable(claim, err);
	dlki_claim_ref(claim);
	if (!dlki_claim_seize(claim, deadline)) {
		rc = dlk_fail(err, DLOCK_EUNREACHABLE,
			      "the store is still busy with a renewal");
	} else {
		claim->revocable = 1;
		rc = is_watchable(claim) ? ask_store(claim, deadline, err) :
					   fail_revocable(claim, err);
		if (rc < 0)
			claim->revocable = 0;
		dlki_claim_yield(claim);
	}
	dlki_claim_unref(claim);
	return rc;
}

void dlki_watch_revoke(struct dlki_record *r)
{
	struct dlki_claim *h;

	LIST_FOREACH(h, &r->held, in_list)
		tell(h);
	if (r->kept)
		dlki_claim_unkeep(r->kept);
}

void dlki_watch_settle(struct dlki_claim *claim, dlk_time deadline)
{
	if (dlki_watch_state(claim) == DLKI_WATCH_BEGINS &&
	    dlki_claim_seize(claim, deadline))
		dlki_claim_yield(claim);
}

/* dlock-loop gives the claim back right after a pump, if no round trip to a
 * server is needed.  Otherwise the renewer does so a little later. */
static void give_up_kept(struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;

	if (!dlki_pump_is_here(c) || c->given_up ||
	    (!DLKI_HAS(c->backend, release_begin) &&
	     c->session->caps & DLOCK_CAP_REMOTE)) {
		dlki_claim_unkeep(claim);
		return;
	}
	dlki_claim_give_up(claim, dlk_now() + DLKI_GIVE_UP_NS);
	dlki_claim_ref(claim);
	c->given_up = claim;
}

void dlk_wanted(struct dlk_session *s, uint64_t id)
{
	struct dlock_client *c = s->core;
	struct dlki_claim *claim;

	pthread_mutex_lock(&c->mu);
	claim = dlki_slots_find(&c->slots, id);
	if (claim)
		tell(claim);
	if (claim && dlki_watch_state(claim) != DLKI_UNWATCHED &&
	    !claim->watch->wanted) {
		note_wanted(claim, c->turns);
		if (claim->state == DLKI_KEPT)
			give_up_kept(claim);
	}
	pthread_mutex_unlock(&c->mu);
}
