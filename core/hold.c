/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hold.h"

#include <unistd.h>

#include "core/base/clock.h"
#include "core/event.h"
#include "core/record.h"
#include "core/schedule.h"

void dlki_hold_begin(struct dlki_claim *claim, dlk_time end)
{
	struct dlki_record *r = claim->record;
	struct dlock_client *c = claim->client;

	atomic_store(&claim->valid_until, end);
	dlki_claim_move(claim, DLKI_HELD);
	claim->own.count = 1;
	LIST_INSERT_HEAD(&r->held, claim, in_list);
	c->stats.holds++;
	dlki_schedule_add(claim);
}

/* A store without tokens misses none. */
int dlki_hold_has_token(const struct dlki_claim *claim)
{
	const struct dlki_watch *w = claim->watch;

	return claim->token == 0 || (w && claim->token < w->token_last);
}

/* A lease may be as short as half a ttl when granted, and is renewed after a
 * third of that time. */
dlk_time dlki_hold_fits_until(const struct dlki_claim *claim)
{
	int64_t ttl_ms = claim->client->schedule.ttl_ms;

	if (claim->lease_until == DLK_FOREVER)
		return DLK_FOREVER;
	return claim->lease_until - ttl_ms * DLK_MS / 4;
}

int dlki_hold_fits(const struct dlki_claim *claim, dlk_time now)
{
	return !claim->at_risk && dlki_hold_has_token(claim) &&
	       now <= dlki_hold_fits_until(claim);
}

/*
 * No token may be ahead of the store's clock: a wiped store gives the next
 * token by the clock.  With several holds in a microsecond, this hold has to
 * wait for the next microsecond.
 */
static dlk_time await_token(const struct dlki_claim *claim, dlk_time now)
{
	int64_t used = (int64_t)(claim->token - claim->watch->token_first);

	while (now - claim->watch->token_heard < (used + 1) * 1000)
		now = dlk_now();
	return now;
}

/* Clear the state of the last hold. */
dlk_time dlki_hold_next(struct dlki_claim *claim, uint64_t thread,
			dlk_time asked_at, dlk_time now)
{
	struct dlock_client *c = claim->client;

	if (claim->token != 0)
		now = await_token(claim, now);
	claim->events = 0;
	claim->undelivered = 0;
	if (claim->lost_fd >= 0)
		close(claim->lost_fd);
	if (claim->wanted_fd >= 0)
		close(claim->wanted_fd);
	claim->lost_fd = claim->wanted_fd = -1;
	claim->revocable = claim->told_wanted = 0;
	claim->thread = thread;
	if (claim->token != 0)
		claim->ticket->token_used = ++claim->token;
	claim->begun_at = now;
	c->stats.granted++;
	dlki_times_add(&c->stats.wait, now - asked_at);
	dlki_schedule_granted(claim);
	return claim->lease_until < claim->hold_until ? claim->lease_until :
							claim->hold_until;
}

bool dlki_hold_end_waits(const dlock_hold *hold, int last)
{
	const struct dlki_claim *claim = dlki_hold_claim(hold);

	return dlki_event_holds_up(hold) ||
	       (last && !claim->client->closing &&
		(claim->upgrades > 0 ||
		 (claim->busy && claim->client->schedule.renewals)));
}
