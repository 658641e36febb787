/* SPDX-License-Identifier: Apache-2.0 */
#include "core/schedule.h"

#include "core/base/clock.h"
#include "core/claim.h"

int64_t dlki_schedule_margin(int64_t ttl_ms, int64_t store_ms)
{
	int64_t own = 2 + ttl_ms / 100;

	return own > store_ms ? own : store_ms;
}

dlk_time dlki_schedule_end(const struct dlki_schedule *schedule, dlk_time since,
			   int64_t lease_ms)
{
	if (schedule->ttl_ms == 0)
		return DLK_FOREVER;
	return dlki_after_ms(since, lease_ms - schedule->margin_ms);
}

dlk_time dlki_schedule_forgotten(const struct dlki_schedule *schedule,
				 dlk_time now, int64_t lease_ms)
{
	if (schedule->ttl_ms == 0)
		return DLK_FOREVER;
	return dlki_after_ms(now, lease_ms);
}

void dlki_schedule_arm(struct dlki_schedule *schedule, dlk_time at)
{
	schedule->armed = at;
	dlki_source_at(&schedule->source, at);
}

int dlki_schedule_reserve(struct dlki_schedule *schedule, size_t n)
{
	if (dlki_heap_reserve(&schedule->work, n) != 0 ||
	    dlki_heap_reserve(&schedule->clean, n) != 0)
		return DLOCK_ENOMEM;
	return dlki_heap_reserve(&schedule->expiry, n);
}

void dlki_schedule_work(struct dlki_claim *claim, dlk_time at)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	dlki_heap_set(dlki_claim_is_cleanup(claim) ? &schedule->clean :
						     &schedule->work,
		      &claim->work, at);
	if (at < schedule->armed)
		dlki_schedule_arm(schedule, at);
}

/* The renewer waits for a thread: another one may be needed. */
static void look_soon(struct dlki_schedule *schedule)
{
	dlk_time at = dlk_now() + DLKI_JOB_STUCK_NS;

	if (at < schedule->armed)
		dlki_schedule_arm(schedule, at);
}

void dlki_schedule_now(struct dlki_claim *claim)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	dlki_heap_set(dlki_claim_is_cleanup(claim) ? &schedule->clean :
						     &schedule->work,
		      &claim->work, dlk_now());
	if (!schedule->stop && dlki_job_post(&schedule->job))
		look_soon(schedule);
}

dlk_time dlki_schedule_due(const struct dlki_schedule *schedule)
{
	const struct dlki_timer *work = dlki_heap_first(&schedule->work);
	const struct dlki_timer *clean = dlki_heap_first(&schedule->clean);
	dlk_time due = work ? work->at : DLK_FOREVER;

	return clean && clean->at < due ? clean->at : due;
}

dlk_time dlki_schedule_promise(struct dlki_claim *claim)
{
	const struct dlock_client *c = claim->client;
	const struct dlk_ticket *t = claim->ticket;
	dlk_time most = DLK_FOREVER;

	if (c->max_hold_ms > 0)
		most = dlki_after_ms(claim->granted_at, c->max_hold_ms);
	claim->lease_until = dlki_schedule_end(&c->schedule, t->since,
					       t->lease_ms);
	return claim->lease_until < most ? claim->lease_until : most;
}

void dlki_schedule_moved(struct dlki_claim *claim, dlk_time end)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	/* The timer finds a later end when the earlier one has come. */
	if (claim->expiry.place != 0 && claim->expiry.at <= end)
		return;
	dlki_heap_set(&schedule->expiry, &claim->expiry, end);
	if (end < schedule->armed)
		dlki_schedule_arm(schedule, end);
}

int64_t dlki_schedule_limit_ms(const struct dlock_client *c)
{
	int64_t interval_ms = c->schedule.interval_ms;

	return interval_ms > 0 && interval_ms < c->request_ms ? interval_ms :
								c->request_ms;
}

int64_t dlki_schedule_warning(const struct dlki_claim *claim, int64_t left_ms)
{
	const struct dlock_client *c = claim->client;
	int64_t low_ms, wait_ms;

	/* No renewal will move this end, or none has for a while. */
	if (claim->state != DLKI_HELD || claim->at_risk ||
	    claim->lease_until != atomic_load(&claim->valid_until))
		return left_ms;
	/* While the renewer renews it, this is when it began to. */
	low_ms = dlki_ms_until(claim->work.at, claim->lease_until);
	/* A store may set a shorter limit of its own. */
	wait_ms = dlki_schedule_limit_ms(c);
	if (wait_ms > low_ms / 2)
		wait_ms = low_ms / 2;
	return low_ms - wait_ms;
}

dlk_time dlki_schedule_next(const struct dlki_schedule *schedule,
			    const struct dlk_ticket *t, int part)
{
	int64_t pause_ms = schedule->interval_ms;
	dlk_time next;

	if (schedule->ttl_ms > 0 && t->lease_ms / part < pause_ms)
		pause_ms = t->lease_ms / part;
	next = dlki_after_ms(t->since, pause_ms);
	return next > t->renew_from ? next : t->renew_from;
}

void dlki_schedule_add(struct dlki_claim *claim)
{
	struct dlki_schedule *schedule = &claim->client->schedule;
	dlk_time end = atomic_load(&claim->valid_until);

	if (end != DLK_FOREVER)
		dlki_schedule_moved(claim, end);
	/* A short lease, from a grant message, is renewed sooner, but not at
	 * once: an even shorter hold then costs no renewal.  If a renewal is
	 * under way, as when a kept claim is taken again, it plans the next. */
	if (schedule->interval_ms > 0 && !claim->busy)
		dlki_schedule_work(claim, dlki_schedule_next(schedule,
							     claim->ticket, 3));
}

void dlki_schedule_remove(struct dlki_claim *claim)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	if (!dlki_claim_is_cleanup(claim))
		dlki_heap_remove(&schedule->work, &claim->work);
	dlki_heap_remove(&schedule->expiry, &claim->expiry);
}
