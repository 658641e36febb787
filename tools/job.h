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
	int64_t grace_ms;    /* TERM when the lease has this left */
	int64_t kill_ms;     /* KILL when it has this left */
	const struct signals *signals;
	const struct guard *guard;
	struct terminal *terminal;
	int timer;           /* of boottime_open() */
	int64_t told;        /* what the guard knows, of job_limit() */

	/* Zeroed by the caller. */
	int stopped;         /* the signal that stopped it, or 0 */
	int asked, killed;   /* TERM, KILL were sent for the lease's sake */
	int ended;
	int status;          /* its exit code, 128+n for signal n */
};

/* Until when the guard is to leave the command alone, by the lease as it stands
 * now.  Wants hold and kill_ms. */
int64_t job_limit(const struct job *j);

/*
 * Stay with the command until it has ended.  Returns the exit code to leave
 * with: its own, or LEAVE_LOST if it was stopped because the lock was lost or
 * about to be; then all of its process group is gone.
 */
int job_run(struct job *j);

#endif
