/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small process that outlives dlock by an instant.
 *
 * SIGKILL and SIGSTOP end dlock's renewal of the lease, and dlock can then no
 * longer stop the command.  The guard can: it applies --on-loss to the
 * command's process group when dlock has ended, or when the last lease that
 * dlock reported is about to end.
 */
#ifndef DLOCK_TOOLS_GUARD_H
#define DLOCK_TOOLS_GUARD_H

#include "options.h"

#include <stdint.h>
#include <sys/types.h>

struct guard {
	int fd; /* or -1 */
	pid_t pid;
};

#define GUARD_FOREVER INT64_MAX

/* Fork the guard: before there are threads, and before there are descriptors
 * that keep a lock alive.  -1 and errno on failure. */
int guard_start(struct guard *g, enum on_loss on_loss);

/* Have the guard signal the group `pgid` at `deadline` (CLOCK_BOOTTIME,
 * nanoseconds); replaces the last order.  pgid 0: watch no group. */
void guard_tell(const struct guard *g, pid_t pgid, int64_t deadline);

/* End the guard; the rest of the group, if any, lives on. */
void guard_stop(struct guard *g);

#endif
