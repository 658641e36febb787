/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of many asynchronous calls in one round trip.  Before the async
 * thread runs the next call that is READY, the thread prepares the calls behind
 * it, too: the store gets their tickets, and sends the requests together with
 * the first.  Then each call runs in turn, and finds the answer.
 *
 * The thread prepares first attempts, and last releases, but no part of a call
 * for a multi-lock.  A call that is prepared stays READY, and can be overdue.
 */
#include "core/ask.h"
#include "core/async.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/record.h"
#include "core/registry.h"
#include "core/store.h"
#include "core/watch.h"

#define BATCH 64

struct batch {
	struct dlki_async *call[BATCH];
	struct dlk_coming coming[BATCH];
	size_t n;
};

void dlki_async_begin_wait(struct dlki_async *r)
{
	struct dlki_wait *w = &r->wait;

	w->begun = dlk_now();
	/* The calls before this call may have taken all of the time. */
	if (w->deadline < w->begun)
		w->deadline = w->begun;
}

/* ---- Which --------------------------------------------------------------- */

/* May the claim be kept or passed?  The store may have to watch it first. */
static int may_stay(const struct dlki_claim *claim)
{
	return dlki_watch_allows(claim) &&
	       (claim->client->keep_ms > 0 ||
		!TAILQ_EMPTY(&claim->record->parked));
}

/* Nothing keeps the release from asking the store at once. */
static int is_plain_release(const struct dlki_async *r)
{
	const struct dlki_claim *claim = dlki_hold_claim(r->releasing);

	return r->last && claim->state == DLKI_HELD && !claim->busy &&
	       !may_stay(claim) && !dlki_hold_end_waits(r->releasing, 1) &&
	       !claim->client->sends_releases;
}

static int is_first_attempt(struct dlki_async *r)
{
	const struct dlki_acquire *a = &r->acquire;

	return a->claim && !a->begun && !a->claim->behind &&
	       !dlki_patience_over(&r->wait.patience);
}

static int may_be_prepared(struct dlki_async *r)
{
	if (r->whole || r->question || r->prepared)
		return 0;
	return r->releasing ? is_plain_release(r) : is_first_attempt(r);
}

/* They stay in the queue, and are the async job's meanwhile.  Thousands of
 * calls may ask again, and are not prepared: look at the first calls only. */
static void collect(struct batch *b, const struct dlki_async_queue *q)
{
	struct dlki_async *r = TAILQ_FIRST(q);

	for (size_t i = 0; r && i < BATCH && b->n < BATCH; i++) {
		if (may_be_prepared(r)) {
			r->state = DLKI_ASYNC_RUNNING;
			b->call[b->n++] = r;
		}
		r = TAILQ_NEXT(r, in_queue);
	}
}

static void let_go(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		b->call[i]->state = DLKI_ASYNC_READY;
	b->n = 0;
}

/* ---- What is to come ----------------------------------------------------- */

static struct dlk_coming coming_attempt(struct dlki_async *r)
{
	struct dlki_wait *w = &r->wait;
	struct dlk_coming coming = { .ticket = r->acquire.claim->ticket };

	dlki_async_begin_wait(r);
	w->patience.ask_ms = dlki_ask_ms(&r->client->ask);
	coming.deadline = dlki_wait_io_limit_here(r->client, w, w->begun);
	r->prepared = 1;
	return coming;
}

/* A plain release waits for nothing, and goes to the store. */
static struct dlk_coming coming_release(struct dlki_async *r)
{
	struct dlk_error none;

	(void)dlki_release_go(r->releasing, r->last, r->wait.deadline,
			      &r->giving, &none);
	r->prepared = 1;
	return (struct dlk_coming){ .ticket = r->giving.claim->ticket,
				    .deadline = r->giving.deadline,
				    .release = 1 };
}

static void begin(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct dlki_async *r = b->call[i];

		b->coming[i] = r->releasing ? coming_release(r) :
					      coming_attempt(r);
	}
}

void dlki_async_prepare(struct dlock_client *c)
{
	struct dlki_asyncs *all = &c->asyncs;
	const struct dlki_async *next = TAILQ_FIRST(&all->releases);
	struct batch b = { .n = 0 };

	/* A woken call, which is next, may send no request, and the requests
	 * prepared here would wait. */
	if (!next && TAILQ_EMPTY(&all->woken))
		next = TAILQ_FIRST(&all->acquires);
	if (!next || next->prepared || c->closing ||
	    !DLKI_HAS(c->backend, prepare))
		return;
	collect(&b, &all->releases);
	collect(&b, &all->acquires);
	if (b.n < 2) {
		let_go(&b);
		return;
	}
	begin(&b);
	pthread_mutex_unlock(&c->mu);
	DLKI_STORE(c, c->backend->prepare(c->session, b.coming, b.n));
	pthread_mutex_lock(&c->mu);
	let_go(&b);
}
