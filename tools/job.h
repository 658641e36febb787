/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command while it runs under the lock: signals go to it, the lease decides
 * how long it may live.
 */
#ifndef DLOCK_TOOLS_JOB_H
#define DLOCK_TOOLS_JOB_H

#include "guard.h"
#include "signals.h"
#include "terminal.h"

#include <dlock/dlock.h>

struct job {
	pid_t pid;           /* also the process group */
	dlock_hold *hold;
	const char *name;    /* of the lock */
	int64_t grace_ms;    /* TERM when the lease has this left, -1: at a
			      * quarter of it; see job_grace_ms() */
	enum on_loss on_loss;
	const struct signals *signals;
	const struct guard *guard;
	struct terminal *terminal;
	int timer;           /* of boottime_open() */
	int wanted_fd;       /* of dlock_wanted_fd(); -1: ignore others */
	int64_t told;        /* what the guard knows, of job_limit() */

	/* Zeroed by the caller. */
	int64_t lease_ms;    /* the longest that was seen; 0: none expires */
	int64_t kill_ms;     /* KILL when it has this left */
	int stopped;         /* the signal that stopped it, or 0 */
	int asked, killed;   /* TERM, KILL were sent for the lease's sake */
	int warned;          /* of --on-loss=warn: that was said */
	int beyond;          /* it was found to be another user's: no signal of
			      * ours reaches it */
	int ended;
	int status;          /* its exit code, 128+n for signal n */
	struct end end;
};

/* The time until which the guard leaves the command alone, by the present
 * lease.  Also notes the length of the lease; needs `hold`. */
int64_t job_limit(struct job *j);

/* The effective `grace_ms`: at most half the lease, and no more than a lease
 * that is being renewed always has left. */
int64_t job_grace_ms(const struct job *j);

/*
 * Stay with the command until it has ended.  Returns the exit code to leave
 * with: its own, or LEAVE_LOST if it was stopped because the lock was lost or
 * about to be; then all of its process group is gone, unless it was only asked.
 */
int job_run(struct job *j);

#endif
