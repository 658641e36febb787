/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command while it runs under the lock: signals go to the command, and the
 * lease decides how long the command may live.
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
	int64_t grace_ms;    /* TERM when the lease has so much left, -1: at a
			      * quarter; see job_grace_ms() */
	enum on_loss on_loss;
	const struct signals *signals;
	const struct guard *guard;
	struct terminal *terminal;
	int timer;           /* of boottime_open() */
	int wanted_fd;       /* of dlock_wanted_fd(); -1: ignore others */
	int64_t told;        /* the guard's job_limit(), as last sent */

	/* Zeroed by the caller. */
	int64_t lease_ms;    /* the longest seen; 0: no lease */
	int64_t kill_ms;     /* KILL when the lease has so much left */
	int stopped;         /* the signal that stopped the command, or 0 */
	int asked, killed;   /* TERM, KILL were sent for the lease's sake */
	int warned;          /* the message of --on-loss=warn was printed */
	int beyond;          /* the command is another user's: no signal of ours
			      * reaches it */
	int ended;
	int status;          /* the exit code, 128+n for signal n */
	struct end end;
};

/* The time until which the guard leaves the command alone, by the present
 * lease.  Also notes the length of the lease; needs `hold`. */
int64_t job_limit(struct job *j);

/* Return the effective `grace_ms`: at most half the lease, and no more than a
 * renewed lease always has left. */
int64_t job_grace_ms(const struct job *j);

/*
 * Stay with the command until it has ended.  Returns the exit code to leave
 * with: the command's, or LEAVE_LOST if dlock stopped the command because the
 * lock was lost or about to be; then the whole process group is gone, unless it
 * was only asked.
 */
int job_run(struct job *j);

#endif
