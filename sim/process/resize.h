/* SPDX-License-Identifier: Apache-2.0 */
/* What the judge knows of resized semaphores. */
#ifndef DLOCK_SIM_PROCESS_RESIZE_H
#define DLOCK_SIM_PROCESS_RESIZE_H

#include "sim/process/name.h"

/* Before and after a resize, which began at `begun_at`. */
void sim_judge_resizing(struct sim_name *name, uint32_t permits);
void sim_judge_resized(struct sim_name *name, uint32_t permits,
		       int64_t begun_at, int rc);

/* How many permits can there have been at the grant of a request made at
 * `asked_at`?  `may_lose`: holds of the name may be lost. */
uint32_t sim_resize_most(const struct sim_name *name, int64_t asked_at,
			 int may_lose);

#endif
