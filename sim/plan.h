/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller does next, as it is drawn.
 */
#ifndef DLOCK_SIM_PLAN_H
#define DLOCK_SIM_PLAN_H

#include "sim/caller.h"

/* Another claim: its lock, mode and owner. */
void sim_plan_request(struct sim_caller *c);

/* How long the program waits for it; sets `cancels`. */
dlk_time sim_plan_patience(struct sim_caller *c);

/* How long it holds the lock, and how long it rests; when the weather is over,
 * no time. */
dlk_time sim_plan_hold(const struct sim_caller *c);
dlk_time sim_plan_rest(const struct sim_caller *c);

#endif
