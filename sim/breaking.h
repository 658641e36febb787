/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller that breaks a lock, or changes the number of permits, as an
 * administrator does, instead of asking for a claim.
 */
#ifndef DLOCK_SIM_BREAKING_H
#define DLOCK_SIM_BREAKING_H

#include "sim/caller.h"

/* Draw a lock, and break it; or draw a number for the semaphore. */
void sim_break_begin(struct sim_caller *c, dlk_time now);

/* The op has ended; or does not end, as the process is killed. */
void sim_break_ended(struct sim_caller *c, dlk_time now);
void sim_break_cut(struct sim_caller *c);

#endif
