/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storm of signals: SIGALRM for this process, over and over, to interrupt
 * every system call.  Threads that block signals, like those of the library, do
 * not see the storm.  A process has a single storm at a time.
 */
#ifndef DLOCK_TESTS_STORM_H
#define DLOCK_TESTS_STORM_H

#include <stdint.h>

/* Starts the storm; returns -1 and errno if that fails. */
int storm_start(int64_t period_us);

/* Ends the storm, restores SIGALRM and returns the number of signals caught. */
uint64_t storm_stop(void);

#endif
