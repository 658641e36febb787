/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server process that cannot be left behind.
 *
 * Each server has a supervisor, a small process between the server and us.  The
 * supervisor starts, signals and reaps the server.  As soon as we let go or
 * die, in whatever way, the supervisor kills the server and removes the
 * directory: a pidfd tells it of our end.  The server dies with the supervisor
 * (PR_SET_PDEATHSIG; the supervisor has one thread, so the signal means the end
 * of the process, whichever of our threads started the server).  exit() stops
 * the remaining servers.
 *
 * A forked child may call no function here for the parent's processes.  Calls
 * for one process must not overlap.
 */
#ifndef DLOCK_LAB_PROCESS_H
#define DLOCK_LAB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LAB_ARGS 48
#define LAB_LOG "log" /* below the directory: the server's output */

/* A command line being put together. */
struct lab_args {
	char text[16384]; /* the arguments, each ended by a NUL */
	size_t len;
	int count;
	bool full; /* an argument did not fit: spawning will fail */
};

__attribute__((format(printf, 2, 3))) void lab_arg(struct lab_args *args,
						   const char *format, ...);

struct lab_process;

/*
 * Start a supervisor.  The supervisor makes a directory, for us alone, and
 * removes it.  `dir` ends in "XXXXXX", to be replaced as by mkdtemp().  Free
 * with lab_process_free().
 */
struct lab_process *lab_process_new(char *dir);

/*
 * Run a command in the directory; the first argument is looked up in PATH.  The
 * command's output is appended to LAB_LOG.  Fails while a command runs.
 */
int lab_process_spawn(struct lab_process *p, const struct lab_args *args);

/* Return the pid of the last process, 0 before the first.  The pid stays the
 * process's until lab_process_reap() has reported the end. */
pid_t lab_process_pid(const struct lab_process *p);

/* Send a signal; SIGKILL goes to the whole process group.  -1: not running. */
int lab_process_signal(struct lab_process *p, int sig);

/*
 * Wait until the process has ended; `*status` is as of waitpid(2).  0: ended;
 * -1: it still runs at `deadline`.  Another call answers the same.
 */
int lab_process_reap(struct lab_process *p, int64_t deadline, int *status);

/* For any process of this host: send SIGSTOP, and wait until every thread has
 * stopped.  The signal is delivered to one thread, and the others run on for a
 * while. */
int lab_pause(pid_t pid);
int lab_resume(pid_t pid);

/* Kill the process, remove the directory, end the supervisor.  NULL: no-op. */
void lab_process_free(struct lab_process *p);

#endif
