/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller that breaks a lock, as an administrator does, instead of asking for
 * a claim.
 */
#ifndef DLOCK_SIM_BREAKING_H
#define DLOCK_SIM_BREAKING_H

#include "sim/caller.h"

/* Draw a lock, and break it. */
void sim_break_begin(struct sim_caller *c, dlk_time now);

/* The op has ended. */
void sim_break_ended(struct sim_caller *c, dlk_time now);

#endif
