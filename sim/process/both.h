/* SPDX-License-Identifier: Apache-2.0 */
/* A caller takes two names at once, by a multi-lock. */
#ifndef DLOCK_SIM_PROCESS_BOTH_H
#define DLOCK_SIM_PROCESS_BOTH_H

#include "sim/process/caller.h"

/* Of a single client or of two clients. */
void sim_caller_take_both(struct sim_caller *me);

/* The same, without a waiting thread. */
void sim_caller_begin_both(struct sim_caller *me);

#endif
