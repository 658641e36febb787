/* SPDX-License-Identifier: Apache-2.0 */
#include "core/keeper.h"

#include <stddef.h>

#include "core/claim.h"
#include "core/clock.h"
#include "core/log.h"

#define CLAIM_OF_WORK(timer)                                                   \
	((struct dlki_claim *)(void *)((                                       \
		char *)(timer)-offsetof(struct dlki_claim, work)))

#define BATCH 1024
#define PAUSE_MIN_NS (5 * DLKI_MS)
#define PAUSE_MAX_NS (5000 * DLKI_MS)

struct batch {
	size_t n;
	struct dlki_claim *claim[BATCH];
	struct dlk_ticket *ticket[BATCH];
	enum dlk_lease verdict[BATCH];
	struct dlki_claim *dirty; /* one to clean up, or NULL */
	dlk_time deadline;
};

/* Renewals that would be due soon join the round: fewer round trips. */
static dlk_time horizon(const struct dlki_lease *lease)
{
	return dlk_now() + lease->interval_ms * DLKI_MS / 20;
}

static void take(struct batch *b, struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;
	dlk_time now = dlk_now();

	claim->busy = 1;
	dlki_claim_ref(claim);
	if (c->lease.ttl_ms > 0 &&
	    claim->lease_until <
		    dlki_after_ms(now, claim->ticket->lease_ms / 2))
		c->stats.renew_late++;
	claim->ticket->since = now;
	claim->ticket->lease_ms = c->lease.ttl_ms;
	b->claim[b->n] = claim;
	b->ticket[b->n] = claim->ticket;
	b->verdict[b->n] = DLK_UNKNOWN;
	b->n++;
}

/* Only one a round: renewals come first. */
static void pick(struct batch *b, struct dlki_claim *claim)
{
	struct dlki_lease *lease = &claim->client->lease;

	if (claim->busy) {
		dlki_heap_set(&lease->clean, &claim->work,
			      dlk_now() + PAUSE_MIN_NS);
		return;
	}
	dlki_heap_remove(&lease->clean, &claim->work);
	claim->busy = 1;
	dlki_claim_ref(claim);
	b->dirty = claim;
}

static void collect(struct dlock_client *c, struct batch *b)
{
	struct dlki_lease *lease = &c->lease;
	struct dlki_timer *first;
	dlk_time soon = horizon(lease);
	int64_t limit_ms = c->request_ms;

	if (lease->interval_ms > 0 && lease->interval_ms < limit_ms)
		limit_ms = lease->interval_ms;
	b->n = 0;
	b->dirty = NULL;
	b->deadline = dlki_after_ms(dlk_now(), limit_ms);
	for (first = dlki_heap_first(&lease->work);
	     b->n < BATCH && first && first->at <= soon;
	     first = dlki_heap_first(&lease->work)) {
		struct dlki_claim *claim = CLAIM_OF_WORK(first);

		if (claim->busy) {
			dlki_heap_set(&lease->work, first, soon + PAUSE_MIN_NS);
		} else if (!dlki_claim_valid(claim)) {
			dlki_claim_lose(claim, "the lease ran out");
		} else {
			dlki_heap_remove(&lease->work, first);
			take(b, claim);
		}
	}
	first = dlki_heap_first(&lease->clean);
	if (first && first->at <= dlk_now())
		pick(b, CLAIM_OF_WORK(first));
}

static void schedule(struct dlki_claim *claim, dlk_time at)
{
	if (claim->state == DLKI_HELD && claim->work.place == 0)
		dlki_lease_work(claim, at);
}

/* The store keeps it on.  The end moves only from the one that was known when
 * the request was sent: see valid_until. */
static void renewed(struct dlki_claim *claim, enum dlk_lease verdict)
{
	struct dlock_client *c = claim->client;
	const struct dlk_ticket *t = claim->ticket;
	dlk_time old = atomic_load(&claim->valid_until);

	if (verdict == DLK_RENEWED && old != DLK_FOREVER) {
		dlk_time end = dlki_lease_promise(claim);

		if (!dlki_claim_valid(claim) ||
		    !atomic_compare_exchange_strong(&claim->valid_until, &old,
						    end)) {
			dlki_claim_lose(claim, "the renewal came too late");
			return;
		}
		dlki_lease_moved(claim, end);
		claim->server_until = dlki_after_ms(dlk_now(), t->lease_ms);
	}
	c->stats.renewed++;
	if (claim->at_risk) {
		claim->at_risk = 0;
		dlki_event_post(claim, DLOCK_SAFE);
	}
	schedule(claim, dlki_after_ms(t->since, c->lease.interval_ms));
}

/* Nothing is at risk where the hold has no lease, or max_hold ends it before
 * that. */
static int at_risk(const struct dlki_claim *claim)
{
	return claim->lease_until != DLK_FOREVER &&
	       claim->lease_until == atomic_load(&claim->valid_until);
}

static void unanswered(struct dlki_claim *claim, const char *why)
{
	struct dlock_client *c = claim->client;
	dlk_time now = dlk_now();
	dlk_time until = claim->lease_until;
	int64_t pause_ns = c->lease.interval_ms * DLKI_MS / 4;

	c->stats.renew_failed++;
	claim->server_until = dlki_after_ms(now, c->lease.ttl_ms);
	if (!claim->at_risk && at_risk(claim)) {
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
	schedule(claim, now + pause_ns);
}

static void settle(struct batch *b, const char *why)
{
	for (size_t i = 0; i < b->n; i++) {
		struct dlki_claim *claim = b->claim[i];

		if (claim->state == DLKI_HELD) {
			switch (b->verdict[i]) {
			case DLK_RENEWED:
			case DLK_STANDS:
				renewed(claim, b->verdict[i]);
				break;
			case DLK_GONE:
				dlki_claim_lose(claim,
						"the store no longer has it");
				break;
			case DLK_UNKNOWN:
				unanswered(claim, why);
				break;
			}
		}
		dlki_claim_yield(claim);
		dlki_claim_unref(claim);
	}
}

/* A claim whose request may still be on its way is asked for again and again
 * until it must have run out; any other until the store has said that it holds
 * nothing. */
static void cleaned(struct dlki_claim *claim, int rc)
{
	struct dlock_client *c = claim->client;
	dlk_time now = dlk_now();
	int64_t ttl_ms = c->lease.ttl_ms;

	if (((rc == 0 || rc == DLOCK_ELOST) &&
	     (!claim->unsure || ttl_ms == 0)) ||
	    (ttl_ms > 0 && now >= claim->server_until)) {
		dlki_claim_gone(claim);
	} else {
		dlki_lease_work(claim, now + claim->pause_ns);
		claim->pause_ns *= 2;
		if (claim->pause_ns > PAUSE_MAX_NS)
			claim->pause_ns = PAUSE_MAX_NS;
	}
	dlki_claim_yield(claim);
	dlki_claim_unref(claim);
}

/* How long the next clean-up may keep the keeper from its renewals, those of
 * holds that are yet to come included: they are due after a third of the lease,
 * and must not be later than half of it. */
static dlk_time cleaning_deadline(const struct dlock_client *c)
{
	int64_t most_ms = c->request_ms;

	if (c->lease.interval_ms > 0 && most_ms > c->lease.interval_ms / 2)
		most_ms = c->lease.interval_ms / 2;
	return dlki_after_ms(dlk_now(), most_ms > 0 ? most_ms : 1);
}

void dlki_keeper_round(struct dlock_client *c)
{
	struct dlk_error err = { 0 };
	struct batch b;
	dlk_time deadline;
	int rc = 0;

	collect(c, &b);
	if (b.n > 0) {
		pthread_mutex_unlock(&c->mu);
		c->backend->renew(c->session, b.ticket, b.verdict, b.n,
				  b.deadline, &err);
		if (err.code != 0)
			dlki_log(c, DLKI_WARNING, "renewal: %s", err.text);
		pthread_mutex_lock(&c->mu);
		settle(&b, err.code ? err.text : "the store did not answer");
	}
	if (!b.dirty)
		return;
	/* dlock_close() waits for us, and then releases what is left. */
	if (c->lease.stop) {
		dlki_claim_yield(b.dirty);
		dlki_claim_unref(b.dirty);
		return;
	}
	deadline = cleaning_deadline(c);
	pthread_mutex_unlock(&c->mu);
	rc = c->backend->release(b.dirty->ticket, deadline, &err);
	pthread_mutex_lock(&c->mu);
	cleaned(b.dirty, rc);
}
