/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of leases: it goes on while the machine sleeps. */
#ifndef DLOCK_TOOLS_BOOTTIME_H
#define DLOCK_TOOLS_BOOTTIME_H

#include <stdint.h>

#define MS INT64_C(1000000)

int64_t boottime_now(void); /* nanoseconds */

/* Return an unarmed timerfd(2).  -1 and errno on failure. */
int boottime_open(void);

/* Make the timer readable from `when` on; INT64_MAX: never. */
void boottime_arm(int timer, int64_t when);

#endif
