/* SPDX-License-Identifier: Apache-2.0 */
#include "core/schedule.h"

#include "core/base/clock.h"
#include "core/claim.h"

/* The end of the promise for a lease of `lease_ms` counted from `since`. */
static dlk_time lease_end(const struct dlki_schedule *schedule, dlk_time since,
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
	return dlki_after_ms(now, lease_ms + schedule->linger_ms);
}

void dlki_schedule_arm(struct dlki_schedule *schedule, dlk_time at)
{
	if (at >= schedule->armed)
		return;
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

static void set_work(struct dlki_claim *claim, dlk_time at)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	dlki_heap_set(claim->is_cleanup ? &schedule->clean : &schedule->work,
		      &claim->work, at);
}

void dlki_schedule_work(struct dlki_claim *claim, dlk_time at)
{
	set_work(claim, at);
	dlki_schedule_arm(&claim->client->schedule, at);
}

void dlki_schedule_now(struct dlki_claim *claim)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	set_work(claim, dlk_now());
	if (!schedule->stop)
		dlki_job_post(&schedule->job);
}

dlk_time dlki_schedule_due(const struct dlki_schedule *schedule)
{
	dlk_time work = DLK_FOREVER, clean = DLK_FOREVER;

	if (!schedule->work_is_full)
		work = dlki_heap_next(&schedule->work);
	if (!schedule->clean_is_full)
		clean = dlki_heap_next(&schedule->clean);
	return clean < work ? clean : work;
}

/* The terms' own lease, if shorter than the store's; else 0. */
static int64_t own_lease_ms(const struct dlki_claim *claim)
{
	int64_t ttl_ms = claim->client->schedule.ttl_ms;

	if (!claim->terms || claim->terms->lease_ms >= ttl_ms)
		return 0;
	return claim->terms->lease_ms;
}

int64_t dlki_schedule_lease_ms(const struct dlki_claim *claim)
{
	int64_t own_ms = own_lease_ms(claim);

	return own_ms > 0 ? own_ms : claim->client->schedule.ttl_ms;
}

/* A lease without renewal counts as every lease does: from before the request,
 * and for the store's lease, less the margin. */
static dlk_time only_lease(const struct dlki_claim *claim)
{
	const struct dlki_schedule *schedule = &claim->client->schedule;
	int64_t lease_ms = claim->terms->lease_ms;
	dlk_time since = claim->ticket->since;
	dlk_time whole = lease_end(schedule, since, schedule->ttl_ms);
	dlk_time end = dlki_after_ms(since, lease_ms);

	if (lease_ms == 0 || (lease_ms <= schedule->ttl_ms && whole < end))
		return whole;
	return end;
}

dlk_time dlki_schedule_first_end(const struct dlki_claim *claim)
{
	dlk_time end = claim->lease_until;

	if (claim->terms && claim->terms->no_renew && only_lease(claim) < end)
		end = only_lease(claim);
	return end;
}

void dlki_schedule_granted(struct dlki_claim *claim)
{
	const struct dlki_terms *terms = claim->terms;
	int64_t most_ms = claim->client->max_hold_ms;

	if (terms && terms->max_hold_ms > 0)
		most_ms = terms->max_hold_ms;
	claim->hold_until = DLK_FOREVER;
	if (most_ms > 0)
		claim->hold_until = dlki_after_ms(claim->begun_at, most_ms);
	if (terms && terms->no_renew && only_lease(claim) < claim->hold_until)
		claim->hold_until = only_lease(claim);
}

const char *dlki_schedule_end(const struct dlki_claim *claim)
{
	const struct dlki_terms *terms = claim->terms;
	bool most = claim->client->max_hold_ms > 0 ||
		    (terms && terms->max_hold_ms > 0);

	if (!terms || !terms->no_renew)
		return most ? "max_hold is reached" : NULL;
	return most ? "max_hold is reached, or the only lease ended" :
		      "the lease ended, and was not to be renewed";
}

dlk_time dlki_schedule_promise(struct dlki_claim *claim)
{
	const struct dlk_ticket *t = claim->ticket;
	int64_t own_ms = own_lease_ms(claim);
	dlk_time end;

	claim->lease_until = lease_end(&claim->client->schedule, t->since,
				       t->lease_ms);
	end = dlki_after_ms(t->since, own_ms);
	if (own_ms > 0 && !claim->terms->no_renew && end < claim->lease_until)
		claim->lease_until = end;
	return claim->lease_until < claim->hold_until ? claim->lease_until :
							claim->hold_until;
}

void dlki_schedule_moved(struct dlki_claim *claim, dlk_time end)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	/* The timer finds a later end when the earlier one has come. */
	if (claim->expiry.place != 0 && claim->expiry.at <= end)
		return;
	dlki_heap_set(&schedule->expiry, &claim->expiry, end);
	dlki_schedule_arm(schedule, end);
}

/* Renewals, also those of future holds, are due after a third of the lease, and
 * must begin before half of the lease. */
int64_t dlki_schedule_slack_ms(const struct dlki_schedule *schedule)
{
	if (schedule->ttl_ms == 0)
		return INT64_MAX;
	return schedule->short_ms > 1 ? schedule->short_ms / 2 : 1;
}

dlk_time dlki_schedule_spare(const struct dlki_schedule *schedule, dlk_time now)
{
	/* Of a hold to come. */
	dlk_time future = dlki_after_ms(now, schedule->short_ms);
	dlk_time next = dlki_heap_next(&schedule->work);

	if (next < now)
		next = now;
	else if (next > future)
		next = future;
	return dlki_after_ms(next, dlki_schedule_slack_ms(schedule));
}

int64_t dlki_schedule_limit_ms(const struct dlki_claim *claim)
{
	int64_t interval_ms = claim->client->schedule.interval_ms;
	int64_t limit_ms = claim->client->request_ms;
	int64_t own_ms = own_lease_ms(claim) / 3;

	if (interval_ms > 0 && interval_ms < limit_ms)
		limit_ms = interval_ms;
	return own_ms > 0 && own_ms < limit_ms ? own_ms : limit_ms;
}

int64_t dlki_schedule_warning(const struct dlki_claim *claim, int64_t left_ms)
{
	int64_t low_ms, wait_ms;

	/* No renewal will move this end, or has moved it for a while. */
	if (claim->state != DLKI_HELD || claim->at_risk ||
	    claim->lease_until >= claim->hold_until ||
	    claim->lease_until != atomic_load(&claim->valid_until))
		return left_ms;
	/* During a renewal: when the renewal began. */
	low_ms = dlki_ms_until(claim->work.at, claim->lease_until);
	/* A store may set a shorter limit. */
	wait_ms = dlki_schedule_limit_ms(claim);
	if (wait_ms > low_ms / 2)
		wait_ms = low_ms / 2;
	return low_ms - wait_ms;
}

dlk_time dlki_schedule_next(const struct dlki_claim *claim, int part)
{
	const struct dlki_schedule *schedule = &claim->client->schedule;
	const struct dlk_ticket *t = claim->ticket;
	int64_t own_ms = own_lease_ms(claim);
	int64_t pause_ms = schedule->interval_ms;
	dlk_time next;

	if (pause_ms == 0)
		return DLK_FOREVER;
	if (claim->terms && claim->terms->no_renew &&
	    claim->lease_until >= claim->hold_until)
		return DLK_FOREVER;
	if (schedule->ttl_ms > 0 && t->lease_ms / part < pause_ms)
		pause_ms = t->lease_ms / part;
	if (own_ms > 0 && own_ms / 3 < pause_ms)
		pause_ms = own_ms / 3;
	next = dlki_after_ms(t->since, pause_ms);
	return next > t->renew_from || own_ms > 0 ? next : t->renew_from;
}

static void plan_renewal(struct dlki_claim *claim, int part)
{
	dlk_time next;

	/* The ticket is the renewal's that is under way, which plans the
	 * next. */
	if (claim->busy)
		return;
	next = dlki_schedule_next(claim, part);
	if (next != DLK_FOREVER)
		dlki_schedule_work(claim, next);
}

static void add_short(struct dlki_claim *claim)
{
	struct dlki_schedule *schedule = &claim->client->schedule;
	int64_t interval_ms = own_lease_ms(claim) / 3;

	if (own_lease_ms(claim) == 0 || claim->is_short ||
	    claim->terms->no_renew)
		return;
	claim->is_short = 1;
	schedule->n_short++;
	if (interval_ms < schedule->short_ms)
		schedule->short_ms = interval_ms;
}

static void remove_short(struct dlki_claim *claim)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	if (!claim->is_short)
		return;
	claim->is_short = 0;
	if (--schedule->n_short == 0)
		schedule->short_ms = schedule->ttl_ms / 3;
}

void dlki_schedule_add(struct dlki_claim *claim)
{
	dlk_time end = atomic_load(&claim->valid_until);

	add_short(claim);
	if (end != DLK_FOREVER)
		dlki_schedule_moved(claim, end);
	/* A short lease, from a grant message, is renewed sooner, but not at
	 * once: an even shorter hold then costs no renewal. */
	plan_renewal(claim, 3);
}

void dlki_schedule_extended(struct dlki_claim *claim)
{
	if (claim->terms && claim->terms->no_renew && claim->work.place == 0)
		plan_renewal(claim, 3);
}

void dlki_schedule_remove(struct dlki_claim *claim)
{
	struct dlki_schedule *schedule = &claim->client->schedule;

	remove_short(claim);
	dlki_heap_remove(&schedule->work, &claim->work);
	dlki_heap_remove(&schedule->expiry, &claim->expiry);
}
