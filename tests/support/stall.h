/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measure of the machine's stalls, for bounds on time: a thread that sleeps,
 * and notes how late the thread wakes up.
 */
#ifndef DLOCK_TESTS_STALL_H
#define DLOCK_TESTS_STALL_H

#include <stdint.h>

/* Begins to measure in this process; a second call has no effect.  The thread
 * ends with the process. */
void stall_watch(void);

/* Returns the sum of the stalls since, with a stall that just ends; pauses of a
 * few milliseconds do not count.  0 without stall_watch(). */
int64_t stalled_ms(void);

#endif
