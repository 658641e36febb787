/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "sim/base/memory.h"
#include "sim/world/net.h"

static struct sim_hold *find(struct sim_judge *j, int lock, int caller)
{
	for (int i = 0; i < SIM_HOLDS; i++) {
		if (j->holds[lock][i].caller == caller)
			return &j->holds[lock][i];
	}
	return NULL;
}

static void fault(struct sim_judge *j, int lock, const struct sim_hold *a,
		  const char *what)
{
	sim_judge_fault(j, "lock %d caller %d token %" PRIu64 ": %s", lock,
			a->caller, a->token, what);
}

static int conflict(const struct sim_hold *a, const struct sim_hold *b)
{
	return a->caller != 0 && b->caller != 0 && a->caller != b->caller &&
	       !(a->is_shared && b->is_shared);
}

static void check(struct sim_judge *j, int lock, const struct sim_hold *hold)
{
	for (int i = 0; i < SIM_HOLDS; i++) {
		const struct sim_hold *other = &j->holds[lock][i];

		if (conflict(hold, other) && other->end_at > j->net->now &&
		    hold->end_at > j->net->now &&
		    other->asked_at > j->lost_at && hold->asked_at > j->lost_at)
			fault(j, lock, hold, "two holders");
	}
}

void sim_judge_hold(struct sim_judge *j, int lock, const struct sim_hold *hold)
{
	uint64_t before = hold->is_shared ? j->last_exclusive[lock] :
					    j->last[lock];
	struct sim_hold *place = find(j, lock, 0);

	if (!place)
		sim_panic("more than %d holds", SIM_HOLDS);
	j->grants++;
	sim_net_note(j->net, "lock %d caller %d holds, token %" PRIu64, lock,
		     hold->caller, hold->token);
	if (hold->token <= before && hold->asked_at > j->lost_at)
		fault(j, lock, hold, "its token has not risen");
	if (hold->token > j->last[lock])
		j->last[lock] = hold->token;
	if (!hold->is_shared)
		j->last_exclusive[lock] = hold->token;
	*place = *hold;
	check(j, lock, hold);
}

void sim_judge_renew(struct sim_judge *j, int lock, int caller, int64_t end_at)
{
	struct sim_hold *hold = find(j, lock, caller);

	j->renewals++;
	if (!hold)
		sim_panic("caller %d renews what it does not hold", caller);
	if (hold->end_at <= j->net->now)
		fault(j, lock, hold, "renewed when it had ended");
	hold->end_at = end_at;
	check(j, lock, hold);
}

void sim_judge_end(struct sim_judge *j, int lock, int caller)
{
	struct sim_hold *hold = find(j, lock, caller);

	if (hold)
		*hold = (struct sim_hold){ 0 };
	sim_net_note(j->net, "lock %d caller %d ends", lock, caller);
}

void sim_judge_fault(struct sim_judge *j, const char *fmt, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	j->faults++;
	sim_net_note(j->net, "FAULT %s", text);
}

void sim_judge_store_lost(struct sim_judge *j)
{
	j->losses++;
	j->lost_at = j->net->now;
}
