/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who the terminal listens to.
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
 * Look at it.  It is given to the command at once if standard input and output
 * are the terminal and dlock is in the foreground.  In a pipeline it is not:
 * the neighbours share dlock's group and need the terminal too; the command
 * gets it when it asks.
 */
void terminal_look(struct terminal *t);

/* Make `pgid` the foreground group.  Async-signal-safe. */
void terminal_give(struct terminal *t, pid_t pgid);

/* Take it back, if it was given. */
void terminal_take(struct terminal *t);

/* Put the modes back that a command left behind when it was killed. */
void terminal_restore(const struct terminal *t);

/* Is dlock's own group in the foreground? */
int terminal_ours(const struct terminal *t);

#endif
