/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small process that outlives dlock by an instant.
 *
 * Whoever kills dlock with SIGKILL, or stops it with SIGSTOP, ends the renewal
 * of its lease, and nobody is left to stop the command.  The guard is: it kills
 * the command's process group when dlock is gone, or when the last lease it was
 * told of is about to end.
 */
#ifndef DLOCK_TOOLS_GUARD_H
#define DLOCK_TOOLS_GUARD_H

#include <stdint.h>
#include <sys/types.h>

struct guard {
	int fd; /* -1: none */
	pid_t pid;
};

#define GUARD_FOREVER INT64_MAX

/* Fork it: before there are threads, and before there are descriptors that keep
 * a lock alive.  -1 and errno on failure. */
int guard_start(struct guard *g);

/* Watch over the group `pgid` until `deadline` (CLOCK_BOOTTIME, nanoseconds),
 * which replaces what was said before; pgid 0: there is nothing to watch. */
void guard_tell(const struct guard *g, pid_t pgid, int64_t deadline);

/* End it; the group, if any is left, lives on. */
void guard_stop(struct guard *g);

#endif
