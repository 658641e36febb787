/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a client's schedule. */
#include <errno.h>

#include "core/base/clock.h"
#include "core/base/container.h"
#include "core/base/error.h"
#include "core/cleanup.h"
#include "core/lifecycle.h"
#include "core/overdue.h"
#include "core/registry.h"
#include "core/renew.h"
#include "core/schedule.h"

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
	if (!schedule->stop &&
	    (schedule->cleanups || dlki_schedule_due(schedule) <= dlk_now()))
		dlki_renew_round(c);
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

static int hurry(struct dlki_claim *claim, dlk_time deadline)
{
	if (!dlki_renewals_hurry(claim, deadline) &&
	    !dlki_cleanups_hurry(claim))
		return 0;
	dlki_job_post(&claim->client->schedule.job);
	return 1;
}

/* 0 or ENOMEM. */
static int keep_what_is_under_way(struct dlock_client *c)
{
	struct dlki_schedule *schedule = &c->schedule;

	if (!c->attendant || !DLKI_HAS(c->backend, answers_later))
		return 0;
	schedule->hurry = hurry;
	schedule->cleanups = dlki_cleanups_new();
	schedule->renewals = dlki_renewals_new();
	return schedule->cleanups && schedule->renewals ? 0 : ENOMEM;
}

static void end_what_is_under_way(struct dlock_client *c)
{
	if (!c->schedule.hurry)
		return;
	pthread_mutex_lock(&c->mu);
	c->schedule.hurry = NULL;
	dlki_renewals_end(c);
	dlki_cleanups_end(c);
	pthread_mutex_unlock(&c->mu);
}

int dlki_threads_start(struct dlock_client *c, struct dlk_error *err)
{
	struct dlki_schedule *schedule = &c->schedule;
	int rc;

	schedule_set_up(schedule, c->session);
	rc = keep_what_is_under_way(c);
	if (rc == 0)
		rc = dlki_source_join(&schedule->source, c->attendant);
	if (rc == 0)
		rc = dlki_job_join(&schedule->job, c->attendant);
	if (rc == 0)
		return 0;
	dlki_source_leave(&schedule->source);
	end_what_is_under_way(c);
	return dlki_system(err, rc, "starting a thread");
}

void dlki_threads_stop(struct dlock_client *c)
{
	dlki_source_leave(&c->schedule.source);
	dlki_job_leave(&c->schedule.job);
	end_what_is_under_way(c);
}
