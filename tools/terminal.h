/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal's foreground group.
 *
 * The command runs in a process group of its own, so that the whole group can
 * be killed at once; to read from the terminal the group must be in the
 * foreground.
 */
#ifndef DLOCK_TOOLS_TERMINAL_H
#define DLOCK_TOOLS_TERMINAL_H

#include <sys/types.h>
#include <termios.h>

struct terminal {
	int fd;    /* or -1 */
	int eager; /* give the terminal to the command from the start */
	int given;
	int used;  /* it was given, if only for a while */
	struct termios modes;
};

/*
 * Examine the terminal of the session, which a command can open even if no
 * standard descriptor is the terminal.  The command gets the terminal at once
 * if standard input and output are the terminal and dlock is in the foreground.
 * Not so in a pipeline, where the neighbours share dlock's group and need the
 * terminal, too: there the command gets the terminal when it first reads.
 */
void terminal_look(struct terminal *t);

/* Make `pgid` the foreground group, if `ours`, dlock's group, is in the
 * foreground: a shell may have put dlock in the background since the last look.
 * Async-signal-safe. */
void terminal_give(struct terminal *t, pid_t ours, pid_t pgid);

/* Whether dlock gave the terminal to `pgid`, and the group still has it. */
int terminal_lent(const struct terminal *t, pid_t pgid);

/* Take the terminal back, if it was given; not from a shell, which has put
 * dlock in the background. */
void terminal_take(struct terminal *t);

/* Undo a killed command's changes of modes, if the command had the terminal.
 * Does not wait for output that the terminal has yet to show. */
void terminal_restore(const struct terminal *t);

/* Is dlock's own group in the foreground? */
int terminal_ours(const struct terminal *t);

#endif
