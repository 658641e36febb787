/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process' allocations: the linker leads malloc() and the like here.  The
 * simulation's own (sim/base/memory.h) never fail on purpose.
 */
#ifndef DLOCK_SIM_ALLOCATION_H
#define DLOCK_SIM_ALLOCATION_H

#include <stddef.h>
#include <stdint.h>

/* Have the n-th allocation from now fail; 0: no longer. */
void sim_allocation_fail(uint64_t nth);

/* Allocations not freed yet. */
int64_t sim_allocations(void);

#endif
