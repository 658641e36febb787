/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process' allocations: the linker leads malloc() and the like here.  The
 * simulation's own (sim/base/memory.h) never fail on purpose.
 */
#ifndef DLOCK_SIM_ALLOCATION_H
#define DLOCK_SIM_ALLOCATION_H

#include <stddef.h>
#include <stdint.h>

#include "sim/base/chance.h"

/* Have the n-th allocation from now fail; 0: no longer. */
void sim_allocation_fail(uint64_t nth);

/* In 1 of `rate` allocations, 0: in none, begin a burst: up to `burst`
 * allocations in a row fail. */
void sim_allocation_weather(struct sim_chance *chance, uint64_t rate,
			    uint64_t burst);

/* Have all allocations fail; 0: no longer. */
void sim_allocation_exhaust(int on);

/* Allocations not freed yet. */
int64_t sim_allocations(void);

#endif
