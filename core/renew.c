/* SPDX-License-Identifier: Apache-2.0 */
#include "core/renew.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/base/error.h"
#include "core/cleanup.h"
#include "core/lifecycle.h"
#include "core/log.h"
#include "core/registry.h"
#include "core/schedule.h"
#include "core/store.h"
#include "core/watch.h"

#define BATCH 1024
#define PAUSE_MIN_NS (5 * DLK_MS)

struct dlki_renewals {
	size_t n, n_pending;    /* the pending come first */
	int used;               /* a thread is at them */
	struct dlk_error first; /* of the servers that have answered since no
				 * claim was pending, or code 0 */
	struct dlki_claim *claim[BATCH];
	struct dlk_ticket *ticket[BATCH];
	enum dlk_renewal verdict[BATCH];
};

/* Renewals due soon join the round: fewer round trips. */
static dlk_time batch_horizon(const struct dlki_schedule *schedule)
{
	return dlk_now() + schedule->interval_ms * DLK_MS / 20;
}

static void add_to_batch(struct dlki_renewals *b, struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;
	dlk_time now = dlk_now();

	dlki_times_add(&c->stats.renewal_lag, now - claim->work.at);
	claim->busy++;
	dlki_claim_ref(claim);
	if (c->schedule.ttl_ms > 0 &&
	    claim->lease_until <
		    dlki_after_ms(now, dlki_schedule_lease_ms(claim) / 2))
		c->stats.renew_late++;
	claim->ticket->since = now;
	claim->ticket->lease_ms = c->schedule.ttl_ms;
	claim->ticket->renew_from = 0;
	b->claim[b->n] = claim;
	b->ticket[b->n] = claim->ticket;
	b->n++;
}

/* All claims added together have the same time: a claim with a short lease
 * would have no time after a slow store, and the others too little beside
 * it. */
static int64_t limit_of(const struct dlki_renewals *b)
{
	size_t first = b->n_pending < b->n ? b->n_pending : 0;

	return dlki_schedule_limit_ms(b->claim[first]);
}

/* Add the claims that are due. */
static void fill_batch(struct dlock_client *c, struct dlki_renewals *b)
{
	struct dlki_schedule *schedule = &c->schedule;
	struct dlki_timer *first;
	dlk_time soon = batch_horizon(schedule);

	while (b->n < BATCH && (first = dlki_heap_due(&schedule->work, soon))) {
		struct dlki_claim *claim =
			DLKI_CONTAINER_OF(first, struct dlki_claim, work);

		if (claim->busy && !dlki_watch_is_shared(claim)) {
			dlki_heap_set(&schedule->work, first,
				      soon + PAUSE_MIN_NS);
		} else if (!dlki_claim_valid(claim)) {
			dlki_heap_remove(&schedule->work, first);
			dlki_claim_expire(claim);
		} else {
			if (b->n > b->n_pending &&
			    dlki_schedule_limit_ms(claim) != limit_of(b))
				break;
			dlki_heap_remove(&schedule->work, first);
			add_to_batch(b, claim);
		}
	}
}

static void schedule_renewal(struct dlki_claim *claim, dlk_time at)
{
	if (claim->state == DLKI_HELD && claim->work.place == 0 &&
	    at != DLK_FOREVER)
		dlki_schedule_work(claim, at);
}

/* The store keeps the claim.  The end moves only from the end known when the
 * request was sent: see valid_until. */
static void note_renewed(struct dlki_claim *claim, enum dlk_renewal verdict)
{
	struct dlock_client *c = claim->client;
	dlk_time old = atomic_load(&claim->valid_until);

	if (verdict == DLK_RENEWED && old != DLK_FOREVER) {
		dlk_time end = dlki_schedule_promise(claim);

		if (!dlki_claim_valid(claim) ||
		    !atomic_compare_exchange_strong(&claim->valid_until, &old,
						    end)) {
			dlki_claim_expire(claim);
			return;
		}
		dlki_schedule_moved(claim, end);
	}
	c->stats.renewed++;
	if (claim->at_risk) {
		claim->at_risk = 0;
		dlki_event_post(claim, DLOCK_SAFE);
	}
	schedule_renewal(claim, dlki_schedule_next(claim, 2));
}

/* No hold is at risk without a lease, or if max_hold ends it before. */
static int can_be_at_risk(const struct dlki_claim *claim)
{
	return claim->lease_until != DLK_FOREVER &&
	       claim->lease_until == atomic_load(&claim->valid_until);
}

static void note_unanswered(struct dlki_claim *claim, const char *why)
{
	struct dlock_client *c = claim->client;
	dlk_time now = dlk_now();
	dlk_time until = claim->lease_until;
	int64_t pause_ns = c->schedule.interval_ms * DLK_MS / 4;

	c->stats.renew_failed++;
	if (!claim->at_risk && can_be_at_risk(claim)) {
		claim->at_risk = 1;
		dlki_claim_explain(claim, why);
		dlki_event_post(claim, DLOCK_AT_RISK);
	}
	if (until < now)
		until = now;
	if (until != DLK_FOREVER && (until - now) / 4 < pause_ns)
		pause_ns = (until - now) / 4;
	if (pause_ns < PAUSE_MIN_NS)
		pause_ns = PAUSE_MIN_NS;
	schedule_renewal(claim, now + pause_ns);
}

/* The store's lease may have begun again, also of a claim that is lost. */
static void move_window(struct dlki_claim *claim, enum dlk_renewal verdict)
{
	const struct dlki_schedule *schedule = &claim->client->schedule;

	if (verdict == DLK_RENEWED || verdict == DLK_UNKNOWN)
		claim->residue.until = dlki_schedule_forgotten(
			schedule, dlk_now(),
			verdict == DLK_RENEWED ? claim->ticket->lease_ms :
						 schedule->ttl_ms);
}

static void settle(struct dlki_claim *claim, enum dlk_renewal verdict,
		   const char *why)
{
	move_window(claim, verdict);
	if (claim->state == DLKI_HELD) {
		switch (verdict) {
		case DLK_RENEWED:
		case DLK_STANDS:
			note_renewed(claim, verdict);
			break;
		case DLK_GONE:
			dlki_claim_lose(claim, "the store no longer has it");
			break;
		case DLK_UNKNOWN:
		case DLK_PENDING:
			note_unanswered(claim, why);
			break;
		}
	} else if (claim->state == DLKI_KEPT && verdict == DLK_GONE) {
		dlki_claim_unkeep(claim);
	}
	dlki_claim_yield(claim);
	dlki_claim_unref(claim);
}

/* Settle the claims whose servers have answered, or have not in time; the
 * pending claims stay in the batch. */
static void settle_batch(struct dlki_renewals *b, const char *why)
{
	size_t n = b->n;

	b->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (b->verdict[i] != DLK_PENDING) {
			settle(b->claim[i], b->verdict[i], why);
			continue;
		}
		b->claim[b->n] = b->claim[i];
		b->ticket[b->n++] = b->ticket[i];
	}
	b->n_pending = b->n;
}

static int has_pending(const struct dlki_renewals *b)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->verdict[i] == DLK_PENDING)
			return 1;
	}
	return 0;
}

static void note_answer(struct dlock_client *c, const struct dlk_error *err)
{
	if (err->code == 0)
		dlki_away_answered(c);
	else if (!dlki_away_failed(c, NULL, err))
		dlki_log_failed(c, DLKI_WARNING, NULL, err, "renewal: ");
}

/* Have the store renew the batch, until the first server has answered, or for a
 * moment; or without a wait. */
static void renew_batch(struct dlock_client *c, struct dlki_renewals *b,
			dlk_time deadline, int no_wait)
{
	struct dlk_error err = { 0 };

	for (size_t i = 0; i < b->n; i++) {
		b->verdict[i] = DLK_UNKNOWN;
		b->ticket[i]->no_wait = no_wait;
	}
	pthread_mutex_unlock(&c->mu);
	DLKI_STORE(c, c->backend->renew(c->session, b->ticket, b->verdict, b->n,
					deadline, &err));
	if (b->first.code == 0)
		b->first = err;
	if (!has_pending(b)) {
		note_answer(c, &b->first);
		b->first.code = 0;
	}
	for (size_t i = 0; i < b->n; i++)
		b->ticket[i]->no_wait = 0;
	pthread_mutex_lock(&c->mu);
	settle_batch(b, err.code ? err.text : "the store did not answer");
}

static void renew_due(struct dlock_client *c, struct dlki_renewals *b,
		      int no_wait)
{
	if (!c->schedule.stop)
		fill_batch(c, b);
	if (b->n > 0)
		renew_batch(c, b, dlki_after_ms(dlk_now(), limit_of(b)),
			    no_wait);
}

/* A single batch of clean-ups a round: renewals come first.  After `stop`,
 * dlock_close() waits for us, and then releases the rest. */
static void clean_up(struct dlock_client *c)
{
	if (!c->schedule.stop)
		dlki_cleanup_round(c);
}

/* Meanwhile no other thread adds renewals. */
static void begin_use(struct dlock_client *c, struct dlki_renewals *b)
{
	b->used = 1;
	c->schedule.work_is_full = 1;
}

static void end_use(struct dlock_client *c, struct dlki_renewals *b)
{
	b->used = 0;
	c->schedule.work_is_full = b->n == BATCH;
}

static void wait_for_all(struct dlock_client *c)
{
	struct dlki_renewals b;

	b.n = b.n_pending = 0;
	b.first.code = 0;
	do {
		/* More renewals fall due meanwhile. */
		for (int i = 0; i < 2; i++)
			renew_due(c, &b, 0);
		clean_up(c);
	} while (b.n > 0);
}

void dlki_renew_round(struct dlock_client *c)
{
	struct dlki_renewals *b = c->schedule.renewals;

	if (!b) {
		wait_for_all(c);
		return;
	}
	if (!b->used) {
		begin_use(c, b);
		renew_due(c, b, 1);
		end_use(c, b);
	}
	clean_up(c);
}

/* ---- Renewals that no thread waits for ----------------------------------- */

static int has(const struct dlki_renewals *b, const struct dlki_claim *claim)
{
	for (size_t i = 0; i < b->n; i++) {
		if (b->claim[i] == claim)
			return 1;
	}
	return 0;
}

int dlki_renewals_hurry(const struct dlki_claim *claim, dlk_time deadline)
{
	struct dlock_client *c = claim->client;
	struct dlki_renewals *b = c->schedule.renewals;

	if (b->used || !has(b, claim))
		return 0;
	begin_use(c, b);
	renew_batch(c, b, deadline, 0);
	end_use(c, b);
	return 1;
}

struct dlki_renewals *dlki_renewals_new(void)
{
	return calloc(1, sizeof(struct dlki_renewals));
}

void dlki_renewals_end(struct dlock_client *c)
{
	struct dlki_renewals *b = c->schedule.renewals;

	while (b && b->n > 0)
		renew_batch(c, b, 0, 0);
	free(b);
	c->schedule.renewals = NULL;
}
