/* SPDX-License-Identifier: Apache-2.0 */
/* The renewer, and the threads of the schedule. */
#include "core/claim.h"
#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/base/error.h"
#include "core/log.h"
#include "core/cleanup.h"
#include "core/lifecycle.h"
#include "core/overdue.h"
#include "core/schedule.h"
#include "core/store.h"
#include "core/watch.h"

#define BATCH 1024
#define PAUSE_MIN_NS (5 * DLK_MS)

struct batch {
	size_t n, n_pending; /* the pending come first */
	struct dlki_claim *claim[BATCH];
	struct dlk_ticket *ticket[BATCH];
	enum dlk_renewal verdict[BATCH];
};

/* Renewals due soon join the round: fewer round trips. */
static dlk_time batch_horizon(const struct dlki_schedule *schedule)
{
	return dlk_now() + schedule->interval_ms * DLK_MS / 20;
}

static void add_to_batch(struct batch *b, struct dlki_claim *claim)
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
static int64_t limit_of(const struct batch *b)
{
	size_t first = b->n_pending < b->n ? b->n_pending : 0;

	return dlki_schedule_limit_ms(b->claim[first]);
}

/* Add the claims that are due. */
static void fill_batch(struct dlock_client *c, struct batch *b)
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
static void settle_batch(struct batch *b, const char *why)
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

static int has_pending(const struct batch *b)
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
 * moment.  `first` is the error of the servers that have answered since no
 * claim was pending. */
static void renew_batch(struct dlock_client *c, struct batch *b,
			struct dlk_error *first)
{
	dlk_time deadline = dlki_after_ms(dlk_now(), limit_of(b));
	struct dlk_error err = { 0 };

	for (size_t i = 0; i < b->n; i++)
		b->verdict[i] = DLK_UNKNOWN;
	pthread_mutex_unlock(&c->mu);
	DLKI_STORE(c, c->backend->renew(c->session, b->ticket, b->verdict, b->n,
					deadline, &err));
	if (first->code == 0)
		*first = err;
	if (!has_pending(b)) {
		note_answer(c, first);
		first->code = 0;
	}
	pthread_mutex_lock(&c->mu);
	settle_batch(b, err.code ? err.text : "the store did not answer");
}

/* Do the due work: renewals in a batch, then clean-up; and as long as a server
 * does not answer, the work that falls due at the others.  With mu held, which
 * is released while the backend works. */
static void renew_round(struct dlock_client *c)
{
	struct batch b;
	struct dlk_error first = { 0 };

	b.n = b.n_pending = 0;
	do {
		/* More renewals fall due meanwhile. */
		for (int i = 0; i < 2; i++) {
			if (!c->schedule.stop)
				fill_batch(c, &b);
			if (b.n > 0)
				renew_batch(c, &b, &first);
		}
		/* A single batch a round: renewals come first.  After `stop`,
		 * dlock_close() waits for us, and then releases the rest. */
		if (!c->schedule.stop)
			dlki_cleanup_round(c);
	} while (b.n > 0);
}

/* ---- The threads --------------------------------------------------------- */

/* Declare claims lost when their lease has run out.  A renewal does not touch
 * the heap: after a renewal the claim is put back with the new end. */
static void lose_expired(struct dlki_schedule *schedule)
{
	struct dlki_timer *first;
	dlk_time now = dlk_now();

	while ((first = dlki_heap_due(&schedule->expiry, now))) {
		struct dlki_claim *claim =
			DLKI_CONTAINER_OF(first, struct dlki_claim, expiry);

		dlki_heap_remove(&schedule->expiry, first);
		if (dlki_claim_valid(claim))
			dlki_schedule_moved(claim,
					    atomic_load(&claim->valid_until));
		else
			dlki_claim_expire(claim);
	}
}

/* Lose the claims that have run out, whatever the store does at the time, and
 * tell the renewer when work is due. */
static void look(struct dlki_source *source)
{
	struct dlock_client *c = DLKI_CONTAINER_OF(source, struct dlock_client,
						   schedule.source);
	struct dlki_schedule *schedule = &c->schedule;
	dlk_time next, end, overdue;

	pthread_mutex_lock(&c->mu);
	overdue = schedule->stop ? DLK_FOREVER : dlki_overdue_end(c);
	if (!schedule->stop) {
		lose_expired(schedule);
		next = dlki_schedule_due(schedule);
		if (next <= dlk_now()) {
			dlki_job_post(&schedule->job);
			next = DLK_FOREVER; /* it arms the timer when done */
		}
		end = dlki_heap_next(&schedule->expiry);
		if (end < next)
			next = end;
		if (overdue < next)
			next = overdue;
		schedule->armed = next;
		dlki_source_at(&schedule->source, next);
	}
	pthread_mutex_unlock(&c->mu);
}

/* The renewer: a round. */
static int renew(struct dlki_job *job)
{
	struct dlock_client *c = DLKI_CONTAINER_OF(job, struct dlock_client,
						   schedule.job);
	struct dlki_schedule *schedule = &c->schedule;
	dlk_time due;
	int more = 0;

	pthread_mutex_lock(&c->mu);
	if (!schedule->stop && dlki_schedule_due(schedule) <= dlk_now())
		renew_round(c);
	if (!schedule->stop) {
		due = dlki_schedule_due(schedule);
		more = due <= dlk_now();
		if (!more)
			dlki_schedule_arm(schedule, due);
	}
	pthread_mutex_unlock(&c->mu);
	return more;
}

/* max(2 ms + 1 % of ttl, the store's own granularity). */
static int64_t margin_of(const struct dlk_session *s)
{
	int64_t own = 2 + s->ttl_ms / 100;

	return own > s->margin_ms ? own : s->margin_ms;
}

static void schedule_set_up(struct dlki_schedule *schedule,
			    const struct dlk_session *s)
{
	schedule->ttl_ms = s->ttl_ms;
	schedule->margin_ms = margin_of(s);
	schedule->linger_ms = s->linger_ms;
	schedule->interval_ms = s->ttl_ms > 0 ? s->ttl_ms / 3 : s->check_ms;
	if (s->ttl_ms > 0 && s->check_ms > 0 &&
	    s->check_ms < schedule->interval_ms)
		schedule->interval_ms = s->check_ms;
	if (s->ttl_ms > 0 && schedule->interval_ms == 0)
		schedule->interval_ms = 1;
	schedule->short_ms = s->ttl_ms / 3;
	schedule->armed = DLK_FOREVER;
	schedule->source.ready = look;
	schedule->job.run = renew;
}

int dlki_threads_start(struct dlock_client *c, struct dlk_error *err)
{
	struct dlki_schedule *schedule = &c->schedule;
	int rc;

	schedule_set_up(schedule, c->session);
	rc = dlki_source_join(&schedule->source, c->attendant);
	if (rc == 0)
		rc = dlki_job_join(&schedule->job, c->attendant);
	if (rc == 0)
		return 0;
	dlki_source_leave(&schedule->source);
	return dlki_system(err, rc, "starting a thread");
}

void dlki_threads_stop(struct dlock_client *c)
{
	dlki_source_leave(&c->schedule.source);
	dlki_job_leave(&c->schedule.job);
}
