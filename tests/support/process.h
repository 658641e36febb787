/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This program, run again as another process.  A process of a test begins with
 * exec, so threads and sanitizers are those of a new program.  The process dies
 * with the thread that started the process.
 */
#ifndef DLOCK_TESTS_PROCESS_H
#define DLOCK_TESTS_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

struct process_files {
	const char *program; /* NULL: ours */
	int out;     /* standard output and error; -1: ours */
	int keep[2]; /* become descriptors 3 and 4; -1: unused */
};

/* Runs the program with `argv`, which ends in NULL, and in a new process group
 * if `group`.  Returns the pid, or -1 and errno. */
pid_t process_start(char *const argv[], const struct process_files *files,
		    int group);

/* Waits for the end.  Returns the exit code, 128 + the signal that killed the
 * process, or -1 if the process runs on after `within_ms`. */
int process_wait(pid_t pid, int64_t within_ms);

/* Sends SIGKILL, and waits. */
void process_kill(pid_t pid);

#endif
