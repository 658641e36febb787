/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a simulated process, for the scheduler. */
#ifndef DLOCK_SIM_PROCESS_CLOCK_H
#define DLOCK_SIM_PROCESS_CLOCK_H

#include <stdint.h>

/* Set the clock forward, to so many nanoseconds since the process began. */
void sim_clock_set(int64_t at);

#endif
