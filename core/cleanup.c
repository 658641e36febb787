/* SPDX-License-Identifier: Apache-2.0 */
#include "core/cleanup.h"

#include <stdlib.h>

#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/event.h"
#include "core/lifecycle.h"
#include "core/registry.h"
#include "core/store.h"

#define BUSY_NS (5 * DLK_MS)
#define PAUSE_MIN_NS (20 * DLK_MS)
#define PAUSE_MAX_NS (1000 * DLK_MS)
#define SHARE_NS (2 * DLK_MS) /* of the time between two tries, per clean-up */
#define PUT_OFF_MOST 256      /* in a row, with mu held */
#define BATCH 16

/* Clean-ups, seized and with a reference each, and the releases' deadlines. */
struct dlki_cleanups {
	struct dlki_claim *claim[BATCH];
	dlk_time deadline[BATCH];
	bool asks[BATCH]; /* the store answers later */
	size_t n;
	int used; /* a thread is at them */
	dlk_time sent;
	struct dlk_error first; /* code 0: no error */
};

/* ---- A batch ------------------------------------------------------------- */

static size_t batch_most(const struct dlock_client *c)
{
	return DLKI_HAS(c->backend, answers_later) ? BATCH : 1;
}

static void add(struct dlki_cleanups *b, struct dlki_claim *claim,
		dlk_time deadline)
{
	claim->busy = 1;
	dlki_claim_ref(claim);
	b->claim[b->n] = claim;
	b->asks[b->n] = 0;
	b->deadline[b->n++] = deadline;
}

/* Without mu. */
static void release_one(struct dlki_cleanups *b, size_t i, int no_wait)
{
	struct dlki_claim *claim = b->claim[i];
	struct dlock_client *c = claim->client;
	struct dlk_error err = { 0 };
	int rc;

	claim->ticket->no_wait = no_wait;
	DLKI_STORE(c, rc = c->backend->release(claim->ticket, b->deadline[i],
					       &err));
	claim->ticket->no_wait = 0;
	b->asks[i] = rc == DLK_LATER;
	if (b->asks[i])
		return;
	if (rc != 0 && rc != DLOCK_ELOST && b->first.code == 0) {
		b->first = err;
		b->first.code = rc;
	}
	pthread_mutex_lock(&c->mu);
	dlki_cleanup_settle(claim, b->sent, rc);
	pthread_mutex_unlock(&c->mu);
}

/* Release the claims, in one flight if the store can.  Releases mu meanwhile.
 * The code of the first error, or 0. */
static int release_batch(struct dlock_client *c, struct dlki_cleanups *b)
{
	b->sent = dlk_now();
	b->first.code = 0;
	pthread_mutex_unlock(&c->mu);
	for (size_t i = 0; i < b->n; i++)
		release_one(b, i, b->n > 1);
	for (size_t i = 0; i < b->n; i++) {
		if (b->asks[i])
			release_one(b, i, 0);
	}
	pthread_mutex_lock(&c->mu);
	return b->first.code;
}

/* ---- The renewer's share ------------------------------------------------ */

static dlk_time cleanup_deadline(const struct dlock_client *c, dlk_time now)
{
	int64_t slack_ms = dlki_schedule_slack_ms(&c->schedule);

	return dlki_after_ms(now, slack_ms < c->request_ms ? slack_ms :
							     c->request_ms);
}

/* Add the next due clean-up, if there is one.  The deadline is in the past if
 * there is no point in asking the store. */
static int add_due(struct dlki_cleanups *b, struct dlock_client *c)
{
	struct dlki_schedule *schedule = &c->schedule;
	dlk_time now = dlk_now();

	for (int i = 0; i < PUT_OFF_MOST; i++) {
		struct dlki_timer *first = dlki_heap_due(&schedule->clean, now);
		struct dlki_claim *claim;
		int paused = now < schedule->clean_from;

		if (!first)
			return 0;
		claim = DLKI_CONTAINER_OF(first, struct dlki_claim, work);
		if (claim->busy) {
			dlki_heap_set(&schedule->clean, first, now + BUSY_NS);
		} else if (paused && now < claim->residue.until) {
			dlki_heap_set(&schedule->clean, first,
				      schedule->clean_from);
		} else {
			dlki_heap_remove(&schedule->clean, first);
			if (claim->state == DLKI_KEPT)
				dlki_claim_unkeep(claim);
			add(b, claim, paused ? now : cleanup_deadline(c, now));
			return 1;
		}
	}
	return 0;
}

static void fill(struct dlki_cleanups *b, struct dlock_client *c)
{
	b->n = 0;
	while (b->n < batch_most(c) && add_due(b, c))
		continue;
}

static void drop_settled(struct dlki_cleanups *b)
{
	size_t n = b->n;

	b->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!b->asks[i])
			continue;
		b->asks[b->n] = 1;
		b->deadline[b->n] = b->deadline[i];
		b->claim[b->n++] = b->claim[i];
	}
}

/* Meanwhile no other thread adds clean-ups.  Leaves mu. */
static void begin_use(struct dlock_client *c, struct dlki_cleanups *b)
{
	b->used = 1;
	c->schedule.clean_is_full = 1;
	pthread_mutex_unlock(&c->mu);
}

static void end_use(struct dlock_client *c, struct dlki_cleanups *b)
{
	pthread_mutex_lock(&c->mu);
	b->used = 0;
	drop_settled(b);
	c->schedule.clean_is_full = b->n > 0;
}

static void release_kept(struct dlock_client *c, struct dlki_cleanups *b)
{
	if (b->used)
		return;
	if (b->n == 0) {
		fill(b, c);
		b->sent = dlk_now();
		b->first.code = 0;
	}
	begin_use(c, b);
	for (size_t i = 0; i < b->n; i++)
		release_one(b, i, 1);
	end_use(c, b);
}

int dlki_cleanups_hurry(const struct dlki_claim *claim)
{
	struct dlock_client *c = claim->client;
	struct dlki_cleanups *b = c->schedule.cleanups;
	size_t i = 0;

	while (i < b->n && b->claim[i] != claim)
		i++;
	if (b->used || i == b->n)
		return 0;
	begin_use(c, b);
	release_one(b, i, 0);
	end_use(c, b);
	return 1;
}

struct dlki_cleanups *dlki_cleanups_new(void)
{
	return calloc(1, sizeof(struct dlki_cleanups));
}

/* dlock_close() releases the claims. */
void dlki_cleanups_end(struct dlock_client *c)
{
	struct dlki_cleanups *b = c->schedule.cleanups;

	for (size_t i = 0; b && i < b->n; i++) {
		dlki_claim_yield(b->claim[i]);
		dlki_claim_unref(b->claim[i]);
	}
	free(b);
	c->schedule.cleanups = NULL;
}

void dlki_cleanup_round(struct dlock_client *c)
{
	struct dlki_cleanups b;

	if (c->schedule.cleanups) {
		release_kept(c, c->schedule.cleanups);
		return;
	}
	fill(&b, c);
	if (b.n > 0)
		(void)release_batch(c, &b);
}

static int64_t longer_pause(int64_t pause_ns)
{
	if (pause_ns == 0)
		return PAUSE_MIN_NS;
	return pause_ns < PAUSE_MAX_NS / 2 ? 2 * pause_ns : PAUSE_MAX_NS;
}

/* While the store is unreachable, all clean-ups wait for the next try.  While
 * the store answers, a clean-up that is only followed up waits longer the more
 * there are. */
static dlk_time next_try(struct dlki_claim *claim, int confirmed, dlk_time now)
{
	struct dlki_schedule *schedule = &claim->client->schedule;
	int64_t share_ns = (int64_t)claim->client->stats.pending_cleanups *
			   SHARE_NS;

	if (!confirmed && now < schedule->clean_from)
		return schedule->clean_from;
	if (!confirmed) {
		schedule->clean_pause_ns =
			longer_pause(schedule->clean_pause_ns);
		schedule->clean_from = now + schedule->clean_pause_ns;
		return schedule->clean_from;
	}
	schedule->clean_pause_ns = 0;
	schedule->clean_from = now;
	claim->pause_ns = longer_pause(claim->pause_ns);
	return now + (claim->pause_ns > share_ns ? claim->pause_ns : share_ns);
}

void dlki_cleanup_settle(struct dlki_claim *claim, dlk_time sent, int rc)
{
	dlk_time now = dlk_now();
	int confirmed = rc == 0 || rc == DLOCK_ELOST;
	dlk_time next = next_try(claim, confirmed, now);
	enum dlki_claim_state before = claim->state, after;

	if (before == DLKI_RELEASING && !claim->idle && !confirmed &&
	    claim->residue.is != DLKI_NONE)
		dlki_event_afterwards(claim, DLOCK_UNCONFIRMED);
	after = dlki_residue_cleaned(&claim->residue, before, confirmed, sent,
				     now);
	if (before == DLKI_RELEASING && after == DLKI_CLEANING)
		dlki_claim_move(claim, DLKI_CLEANING);
	if (after == DLKI_GONE)
		dlki_claim_gone(claim);
	else
		dlki_schedule_work(claim, next);
	dlki_claim_yield(claim);
	dlki_claim_unref(claim);
}

/* ---- In the way of another request --------------------------------------- */

static struct dlki_claim *next_unconfirmed(const struct dlki_record *r)
{
	struct dlki_claim *claim = LIST_FIRST(&r->cleanups);

	while (claim && claim->residue.is == DLKI_NONE)
		claim = LIST_NEXT(claim, in_cleanups);
	return claim;
}

static int fail_in_the_way(const struct dlki_record *r, const char *why,
			   struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%s '%s': an earlier claim of this client may be in "
			"the way, and could not be released: %s",
			dlki_kind_name(r->kind), r->name, why);
}

/* Another thread uses the clean-up's ticket, and releases the claim. */
static int await_release(struct dlki_claim *claim, dlk_time latest)
{
	int idle;

	dlki_claim_ref(claim);
	idle = dlki_claim_seize(claim, latest);
	if (idle)
		dlki_claim_yield(claim);
	dlki_claim_unref(claim);
	return idle;
}

static void collect(struct dlki_cleanups *b, struct dlki_record *r,
		    dlk_time deadline)
{
	struct dlki_claim *claim;

	LIST_FOREACH(claim, &r->cleanups, in_cleanups) {
		if (claim->residue.is == DLKI_NONE || claim->busy)
			continue;
		if (b->n == batch_most(r->client))
			return;
		if (claim->state == DLKI_KEPT)
			dlki_claim_unkeep(claim);
		add(b, claim, deadline);
	}
}

int dlki_cleanup_sweep(struct dlki_record *r, dlk_time latest,
		       dlk_time deadline, struct dlk_error *err)
{
	struct dlki_claim *claim = next_unconfirmed(r);
	int swept = claim != NULL;

	for (; claim; claim = next_unconfirmed(r)) {
		struct dlki_cleanups b;

		b.n = 0;
		if (dlk_now() > latest)
			return fail_in_the_way(r, "no time was left", err);
		collect(&b, r, deadline);
		if (b.n > 0 ? release_batch(r->client, &b) != 0 :
			      !await_release(claim, latest))
			return fail_in_the_way(r,
					       b.n > 0 ? b.first.text :
							 "the store is silent",
					       err);
	}
	return swept;
}
