/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lease.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "core/claim.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/keeper.h"

#define CLAIM_OF_EXPIRY(timer)                                                 \
	((struct dlki_claim *)(void *)((                                       \
		char *)(timer)-offsetof(struct dlki_claim, expiry)))

int64_t dlki_lease_margin(int64_t ttl_ms, int64_t store_ms)
{
	int64_t own = 2 + ttl_ms / 100;

	return own > store_ms ? own : store_ms;
}

dlk_time dlki_lease_end(const struct dlki_lease *lease, dlk_time since,
			int64_t lease_ms)
{
	if (lease->ttl_ms == 0)
		return DLK_FOREVER;
	return dlki_after_ms(since, lease_ms - lease->margin_ms);
}

static void arm(struct dlki_lease *lease, dlk_time at)
{
	struct itimerspec when = { 0 };

	lease->armed = at;
	if (at == DLK_FOREVER) /* a zero value disarms */
		at = 0;
	else if (at < 1)
		at = 1;
	when.it_value.tv_sec = at / 1000000000;
	when.it_value.tv_nsec = at % 1000000000;
	timerfd_settime(lease->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

int dlki_lease_reserve(struct dlki_lease *lease, size_t n)
{
	if (dlki_heap_reserve(&lease->work, n) != 0 ||
	    dlki_heap_reserve(&lease->clean, n) != 0)
		return DLOCK_ENOMEM;
	return dlki_heap_reserve(&lease->expiry, n);
}

void dlki_lease_work(struct dlki_claim *claim, dlk_time at)
{
	struct dlki_lease *lease = &claim->client->lease;

	dlki_heap_set(claim->needs_cleaning ? &lease->clean : &lease->work,
		      &claim->work, at);
	if (at < lease->armed)
		arm(lease, at);
}

dlk_time dlki_lease_due(const struct dlki_lease *lease)
{
	const struct dlki_timer *work = dlki_heap_first(&lease->work);
	const struct dlki_timer *clean = dlki_heap_first(&lease->clean);
	dlk_time due = work ? work->at : DLK_FOREVER;

	return clean && clean->at < due ? clean->at : due;
}

dlk_time dlki_lease_promise(struct dlki_claim *claim)
{
	const struct dlock_client *c = claim->client;
	const struct dlk_ticket *t = claim->ticket;
	dlk_time most = DLK_FOREVER;

	if (c->max_hold_ms > 0)
		most = dlki_after_ms(claim->granted_at, c->max_hold_ms);
	claim->lease_until = dlki_lease_end(&c->lease, t->since, t->lease_ms);
	return claim->lease_until < most ? claim->lease_until : most;
}

void dlki_lease_moved(struct dlki_claim *claim, dlk_time end)
{
	struct dlki_lease *lease = &claim->client->lease;

	/* A later end is found out when the earlier one has come. */
	if (claim->expiry.place != 0 && claim->expiry.at <= end)
		return;
	dlki_heap_set(&lease->expiry, &claim->expiry, end);
	if (end < lease->armed)
		arm(lease, end);
}

void dlki_lease_add(struct dlki_claim *claim)
{
	struct dlki_lease *lease = &claim->client->lease;
	dlk_time end = atomic_load(&claim->valid_until);
	const struct dlk_ticket *t = claim->ticket;
	int64_t pause_ms = lease->interval_ms;

	if (end != DLK_FOREVER)
		dlki_lease_moved(claim, end);
	if (pause_ms == 0)
		return;
	/* A lease that was handed over short is made whole sooner, but not at
	 * once: a hold that is shorter still costs no renewal. */
	if (lease->ttl_ms > 0 && t->lease_ms / 3 < pause_ms)
		pause_ms = t->lease_ms / 3;
	dlki_lease_work(claim, dlki_after_ms(t->since, pause_ms));
}

void dlki_lease_remove(struct dlki_claim *claim)
{
	struct dlki_lease *lease = &claim->client->lease;

	if (!claim->needs_cleaning)
		dlki_heap_remove(&lease->work, &claim->work);
	dlki_heap_remove(&lease->expiry, &claim->expiry);
}

static const char *reason(const struct dlki_claim *claim)
{
	int64_t max_hold_ms = claim->client->max_hold_ms;

	if (max_hold_ms > 0 &&
	    dlk_now() >= dlki_after_ms(claim->granted_at, max_hold_ms))
		return "max_hold is reached";
	return "the lease ran out before it could be renewed";
}

/* Declare lost what has run out.  The heap knows an end that a renewal may have
 * moved since: it is put back then, so that a renewal need not touch it. */
static void expire(struct dlki_lease *lease)
{
	struct dlki_timer *first;
	dlk_time now = dlk_now();

	for (first = dlki_heap_first(&lease->expiry); first && first->at <= now;
	     first = dlki_heap_first(&lease->expiry)) {
		struct dlki_claim *claim = CLAIM_OF_EXPIRY(first);

		dlki_heap_remove(&lease->expiry, first);
		if (dlki_claim_valid(claim))
			dlki_lease_moved(claim,
					 atomic_load(&claim->valid_until));
		else
			dlki_claim_lose(claim, reason(claim));
	}
}

static void *timer_main(void *arg)
{
	struct dlock_client *c = arg;
	struct dlki_lease *lease = &c->lease;
	struct pollfd fds[2] = {
		{ .fd = lease->timer_fd, .events = POLLIN },
		{ .fd = lease->stop_fd, .events = POLLIN },
	};

	pthread_mutex_lock(&c->mu);
	while (!lease->stop) {
		const struct dlki_timer *end;
		dlk_time next;
		uint64_t ticks;

		expire(lease);
		next = dlki_lease_due(lease);
		if (next <= dlk_now()) {
			if (lease->keeper_idle)
				pthread_cond_signal(&lease->due);
			next = DLK_FOREVER; /* the keeper arms it when done */
		}
		end = dlki_heap_first(&lease->expiry);
		if (end && end->at < next)
			next = end->at;
		arm(lease, next);
		pthread_mutex_unlock(&c->mu);
		poll(fds, 2, -1);
		while (read(lease->timer_fd, &ticks, sizeof(ticks)) > 0)
			continue;
		pthread_mutex_lock(&c->mu);
	}
	pthread_mutex_unlock(&c->mu);
	return NULL;
}

static void *keeper_main(void *arg)
{
	struct dlock_client *c = arg;
	struct dlki_lease *lease = &c->lease;

	pthread_mutex_lock(&c->mu);
	while (!lease->stop) {
		dlk_time due = dlki_lease_due(lease);

		if (due <= dlk_now()) {
			dlki_keeper_round(c);
			continue;
		}
		if (due < lease->armed)
			arm(lease, due);
		lease->keeper_idle = 1;
		pthread_cond_wait(&lease->due, &c->mu);
		lease->keeper_idle = 0;
	}
	pthread_mutex_unlock(&c->mu);
	return NULL;
}

static void set_up(struct dlki_lease *lease, const struct dlk_session *s)
{
	lease->ttl_ms = s->ttl_ms;
	lease->margin_ms = dlki_lease_margin(s->ttl_ms, s->margin_ms);
	lease->interval_ms = s->ttl_ms > 0 ? s->ttl_ms / 3 : s->check_ms;
	if (s->ttl_ms > 0 && s->check_ms > 0 &&
	    s->check_ms < lease->interval_ms)
		lease->interval_ms = s->check_ms;
	if (s->ttl_ms > 0 && lease->interval_ms == 0)
		lease->interval_ms = 1;
	lease->armed = DLK_FOREVER;
	lease->timer_fd = lease->stop_fd = -1;
	pthread_cond_init(&lease->due, NULL);
}

static void tear_down(struct dlki_lease *lease)
{
	if (lease->timer_fd >= 0)
		close(lease->timer_fd);
	if (lease->stop_fd >= 0)
		close(lease->stop_fd);
	pthread_cond_destroy(&lease->due);
}

int dlki_lease_start(struct dlock_client *c, struct dlk_error *err)
{
	struct dlki_lease *lease = &c->lease;
	int rc = 0;

	set_up(lease, c->session);
	lease->timer_fd = timerfd_create(CLOCK_BOOTTIME,
					 TFD_CLOEXEC | TFD_NONBLOCK);
	if (lease->timer_fd >= 0)
		lease->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (lease->stop_fd < 0)
		rc = dlki_system(err, errno, "making a timer");
	if (rc != 0) {
		tear_down(lease);
		return rc;
	}
	rc = dlk_thread(&lease->timer, "dlock-timer", timer_main, c);
	if (rc == 0) {
		rc = dlk_thread(&lease->keeper, "dlock-keeper", keeper_main, c);
		if (rc == 0) {
			return 0;
		}
		pthread_mutex_lock(&c->mu);
		dlki_lease_halt(c);
		pthread_mutex_unlock(&c->mu);
		pthread_join(lease->timer, NULL);
	}
	tear_down(lease);
	return dlki_system(err, rc, "starting a thread");
}

void dlki_lease_halt(struct dlock_client *c)
{
	c->lease.stop = 1;
	pthread_cond_broadcast(&c->lease.due);
	eventfd_write(c->lease.stop_fd, 1);
}

void dlki_lease_stop(struct dlock_client *c)
{
	struct dlki_lease *lease = &c->lease;

	pthread_join(lease->timer, NULL);
	pthread_join(lease->keeper, NULL);
	pthread_mutex_lock(&c->mu);
	tear_down(lease);
	lease->timer_fd = lease->stop_fd = -1;
	pthread_mutex_unlock(&c->mu);
}
