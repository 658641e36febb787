/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal's foreground group.
 *
 * The command runs in a process group of its own, so that all of it can be
 * killed at once; to read from the terminal it must be the foreground group.
 */
#ifndef DLOCK_TOOLS_TERMINAL_H
#define DLOCK_TOOLS_TERMINAL_H

#include <sys/types.h>
#include <termios.h>

struct terminal {
	int fd;    /* -1: there is none */
	int eager; /* give it to the command from its start */
	int given;
	struct termios modes;
};

/*
 * Examine the terminal.  The command gets it at once if standard input and
 * output are the terminal and dlock is in the foreground.  In a pipeline it
 * does not: the neighbours share its group and need the terminal too.  There
 * the command gets it when it first reads from it.
 */
void terminal_look(struct terminal *t);

/* Make `pgid` the foreground group.  Async-signal-safe. */
void terminal_give(struct terminal *t, pid_t pgid);

/* Did dlock give it to `pgid`, and does that group still have it? */
int terminal_lent(const struct terminal *t, pid_t pgid);

/* Take it back, if it was given. */
void terminal_take(struct terminal *t);

/* Undo the changes of modes that a killed command left behind. */
void terminal_restore(const struct terminal *t);

/* Is dlock's own group in the foreground? */
int terminal_ours(const struct terminal *t);

#endif
