/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storm of signals: SIGALRM for this process, over and over, so that every
 * system call that can be interrupted is.  Threads that block signals, like
 * those of the library, are left in peace by it.  One at a time.
 */
#ifndef DLOCK_TESTS_STORM_H
#define DLOCK_TESTS_STORM_H

#include <stdint.h>

/* -1: errno says why not. */
int storm_start(int64_t period_us);

/* Returns how many signals were caught.  SIGALRM is as it was before. */
uint64_t storm_stop(void);

#endif
