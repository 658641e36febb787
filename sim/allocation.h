/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process' allocations: dlock-sim is linked so that malloc() and the like
 * come here.  The simulation's own (sim/base/memory.h) never fail on purpose.
 */
#ifndef DLOCK_SIM_ALLOCATION_H
#define DLOCK_SIM_ALLOCATION_H

#include <stddef.h>
#include <stdint.h>

/* The n-th allocation from now fails; 0: none does. */
void sim_allocation_fail(uint64_t nth);

/* Allocations that were not freed yet. */
int64_t sim_allocations(void);

#endif
