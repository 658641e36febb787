/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans: draws for the next step of a caller.
 */
#ifndef DLOCK_SIM_PLAN_H
#define DLOCK_SIM_PLAN_H

#include "sim/caller.h"

/* Draw another claim: lock, mode and owner. */
void sim_plan_request(struct sim_caller *c);

/* Draw how long the program waits for the claim; sets `cancels`. */
dlk_time sim_plan_patience(struct sim_caller *c);

/* Draw whether the caller breaks a lock instead, and whether the holder of an
 * exclusive claim shares the lock before the release. */
int sim_plan_break(const struct sim_caller *c);
int sim_plan_downgrade(const struct sim_caller *c);

/* Draw whether the caller sets another limit, instead of breaking the lock that
 * was drawn; 0: no. */
uint32_t sim_plan_resize(const struct sim_caller *c);

/* Draw how long the caller holds the lock, and how long the caller rests; no
 * time when the weather is over. */
dlk_time sim_plan_hold(const struct sim_caller *c);
dlk_time sim_plan_rest(const struct sim_caller *c);

#endif
