/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_BENCH_STOP_H
#define DLOCK_BENCH_STOP_H

#include <signal.h>

/* Set by SIGINT and SIGTERM: whatever is measured ends soon. */
extern volatile sig_atomic_t bench_stopped;

#endif
