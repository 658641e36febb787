/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This program, run again as another process: what a test does in several
 * processes starts with exec, so that threads and sanitizers are as in a
 * program of its own.  Such a process dies with the thread that started it.
 */
#ifndef DLOCK_TESTS_PROCESS_H
#define DLOCK_TESTS_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

struct process_files {
	const char *program; /* NULL: ours */
	int out;     /* its standard output and error; -1: ours */
	int keep[2]; /* become descriptors 3 and 4; -1: none */
};

/* Run the program with `argv`, which ends in NULL, in a process group of its
 * own if `group`.  The pid, or -1 and errno. */
pid_t process_start(char *const argv[], const struct process_files *files,
		    int group);

/* Wait for its end.  The exit code, 128 + the signal that killed it, or -1 if
 * it still runs after `within_ms`. */
int process_wait(pid_t pid, int64_t within_ms);

/* SIGKILL, and wait. */
void process_kill(pid_t pid);

#endif
