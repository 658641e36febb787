/* SPDX-License-Identifier: Apache-2.0 */
#include "core/overdue.h"

#include "core/ask.h"
#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/inspect.h"
#include "core/record.h"
#include "core/release.h"

static void set_end(struct dlki_async *r, dlk_time at)
{
	dlki_heap_set(&r->client->asyncs.end, &r->end, at);
	dlki_schedule_arm(&r->client->schedule, at);
}

void dlki_overdue_begin(struct dlki_async *r)
{
	if (r->wait.deadline != DLK_FOREVER)
		set_end(r, dlki_after_ms(r->wait.deadline,
					 dlki_ask_ms(&r->client->ask)));
}

void dlki_overdue_cancelled(struct dlki_async *r)
{
	dlk_time at = dlki_after_ms(dlk_now(), dlki_ask_ms(&r->client->ask));

	if (r->end.place == 0 || at < r->end.at)
		set_end(r, at);
	if (r->asleep)
		r->acquire.claim->cancelled = 1;
	dlki_async_rouse(r);
	/* It may wait for a ticket. */
	if (r->state == DLKI_ASYNC_RUNNING)
		pthread_cond_broadcast(&r->client->changed);
}

/* A cancelled call may leave the queue. */
void dlki_overdue_cancel_each(struct dlki_async_queue *queue,
			      const dlock_lock *lock)
{
	struct dlki_async *r = TAILQ_FIRST(queue), *next;

	for (; r; r = next) {
		next = TAILQ_NEXT(r, in_queue);
		if (r->acquire.lock == lock)
			dlki_overdue_cancelled(r);
	}
}

void dlki_overdue_at(struct dlki_async *r, dlk_time at)
{
	struct dlki_asyncs *all = &r->client->asyncs;

	if (dlki_heap_reserve(&all->end, all->n) == 0)
		set_end(r, at);
}

static int fail_stuck(const struct dlki_record *record, struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EUNREACHABLE,
			"%s '%s': the store did not answer other requests of "
			"this client",
			dlki_kind_name(record->kind), record->name);
}

static int why_it_ends(struct dlki_async *r, struct dlk_error *err)
{
	const struct dlki_acquire *a = &r->acquire;
	int rc = dlki_wait_cancelled(a->claim, &r->wait, err);

	if (rc == 0 && r->gate)
		rc = dlki_claim_check_upgradeable(r->wait.beside, r->gate, err);
	if (rc == 0)
		rc = dlki_acquire_was_busy(a, err);
	return rc != 0 ? rc : fail_stuck(a->claim->record, err);
}

/* The request of an acquire that is ASKING may still arrive. */
static void note_unanswered(const struct dlki_async *r)
{
	const struct dlki_schedule *schedule = &r->client->schedule;

	dlki_residue_asked(&r->acquire.claim->residue, DLKI_SENDING_UNANSWERED,
			   dlki_schedule_forgotten(schedule, dlk_now(),
						   schedule->ttl_ms));
}

static void end_acquire(struct dlki_async *r)
{
	struct dlock_client *c = r->client;
	struct dlk_error err = { 0 };
	int rc = why_it_ends(r, &err);

	if (r->asleep)
		dlki_wait_end(r->acquire.claim);
	if (r->asks)
		note_unanswered(r);
	if (rc == DLOCK_EBUSY)
		c->stats.busy++;
	dlki_acquire_abandon(&r->acquire);
	dlki_call_end(c);
	dlki_async_over(r, rc, NULL, &err);
}

/* The renewer goes on with the release. */
static void end_release(struct dlki_async *r)
{
	struct dlk_error stuck, lost = { 0 };
	int rc;

	fail_stuck(dlki_hold_claim(r->releasing)->record, &stuck);
	rc = dlki_release_leave(r->releasing, &lost);
	dlki_call_end(r->client);
	dlki_async_over(r, rc != 0 ? rc : stuck.code, NULL,
			rc != 0 ? &lost : &stuck);
}

static void end_question(struct dlki_async *r)
{
	struct dlk_error err;
	int rc = fail_stuck(dlki_question_record(r->question), &err);

	dlki_call_end(r->client);
	dlki_async_over(r, rc, NULL, &err);
}

static void end(struct dlki_async *r)
{
	if (r->releasing)
		end_release(r);
	else if (r->question)
		end_question(r);
	else
		end_acquire(r);
}

/* A call without a turn, because the async job does not come back from the
 * backend, or too many calls are ahead.  The latter may still have to ask for
 * the first time.  A running call, or a call with a passed claim, ends by
 * itself. */
static int is_overdue(struct dlki_async *r, int is_stuck)
{
	if (r->state == DLKI_ASYNC_RUNNING)
		return 0;
	if (r->releasing)
		return is_stuck && r->last && !r->asks &&
		       !dlki_hold_end_waits(r->releasing, r->last);
	if (r->question)
		return is_stuck;
	if (r->acquire.claim->passed)
		return 0;
	return is_stuck || r->acquire.busy ||
	       dlki_patience_over(&r->wait.patience);
}

dlk_time dlki_overdue_end(struct dlock_client *c)
{
	struct dlki_asyncs *all = &c->asyncs;
	struct dlki_timer *t;
	int64_t ask_ms;
	dlk_time now;
	int is_stuck;

	if (!dlki_heap_first(&all->end))
		return DLK_FOREVER;
	now = dlk_now();
	ask_ms = dlki_ask_ms(&c->ask);
	is_stuck = all->running_since != 0 &&
		   now >= dlki_after_ms(all->running_since, ask_ms);
	while ((t = dlki_heap_due(&all->end, now))) {
		struct dlki_async *r = DLKI_CONTAINER_OF(t, struct dlki_async,
							 end);

		if (is_overdue(r, is_stuck))
			end(r);
		else
			dlki_heap_set(&all->end, t, dlki_after_ms(now, ask_ms));
	}
	return dlki_heap_next(&all->end);
}
