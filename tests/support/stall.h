/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measure of the machine's own stalls, for bounds on time: a thread that does
 * nothing but sleep, and notes how much longer than it meant to.
 */
#ifndef DLOCK_TESTS_STALL_H
#define DLOCK_TESTS_STALL_H

#include <stdint.h>

/* Begin to measure, in this process; once is enough.  The thread ends with the
 * process. */
void stall_watch(void);

/* For how long in sum this process has stood still since, also if it just goes
 * on; pauses of a few milliseconds do not count.  0 where nothing measures. */
int64_t stalled_ms(void);

#endif
