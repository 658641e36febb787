/* SPDX-License-Identifier: Apache-2.0 */
/* The semaphore's number of permits, as far as the judge knows. */
#include "sim/judge.h"

#include "sim/world/net.h"

uint32_t sim_judge_permits(const struct sim_judge *j,
			   const struct sim_hold *hold)
{
	if (j->permits.limit > 0 && j->permits.under_way == 0 &&
	    hold->asked_at > j->permits.since &&
	    j->permits.used_from < j->permits.begun_at &&
	    sim_judge_excused_until(j) < j->permits.used_from)
		return j->permits.limit;
	return j->permits.most > SIM_PERMITS ? j->permits.most : SIM_PERMITS;
}

void sim_judge_resize(struct sim_judge *j, uint32_t limit)
{
	if (limit > j->permits.most)
		j->permits.most = limit;
	j->permits.limit = 0;
	j->permits.unclear |= j->permits.under_way > 0;
	j->permits.under_way++;
}

/* One that is not answered may still arrive. */
void sim_judge_resized(struct sim_judge *j, uint32_t limit, int64_t begun_at,
		       int is_set, int is_known)
{
	if (is_known && --j->permits.under_way == 0) {
		j->permits.limit = is_set && !j->permits.unclear ? limit : 0;
		j->permits.unclear = 0;
	}
	j->permits.begun_at = begun_at;
	j->permits.since = j->net->now;
	sim_net_note(j->net, "the semaphore %s %u permits",
		     is_set ? "has" : "may have", (unsigned int)limit);
}
