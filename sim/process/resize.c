/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/process/resize.h"

#include <dlock/dlock.h>

#include "sim/process/sched.h"

void sim_judge_resizing(struct sim_name *name, uint32_t permits)
{
	struct sim_resize *r = &name->resize;

	sim_sched_tell("%p is to have %u permits", (void *)name, permits);
	if (permits > r->most)
		r->most = permits;
	r->set = 0;
	r->unclear |= r->under_way++ > 0;
}

void sim_judge_resized(struct sim_name *name, uint32_t permits,
		       int64_t begun_at, int rc)
{
	struct sim_resize *r = &name->resize;

	sim_sched_tell("%p has %u permits: %d", (void *)name, permits, rc);
	r->unanswered |= rc == DLOCK_EUNREACHABLE;
	if (--r->under_way > 0)
		return;
	r->set = rc == DLOCK_OK && !r->unclear && !r->unanswered ? permits : 0;
	r->unclear = 0;
	r->begun_at = begun_at;
	r->since = sim_sched_now();
}

/* The number set by a resize counts for a request after the resize, while the
 * semaphore is in use. */
uint32_t sim_resize_most(const struct sim_name *name, int64_t asked_at,
			 int may_lose)
{
	const struct sim_resize *r = &name->resize;

	if (r->set > 0 && !may_lose && name->used_from < r->begun_at &&
	    asked_at > r->since && asked_at != SIM_FOREVER)
		return r->set;
	return r->most > name->permits ? r->most : name->permits;
}
