/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals while a command runs under a lock: blocked everywhere, read from
 * descriptors, put back as they were for the command.
 */
#ifndef DLOCK_TOOLS_SIGNALS_H
#define DLOCK_TOOLS_SIGNALS_H

#include <signal.h>

struct signals {
	sigset_t taken;          /* blocked now, read from `fd` */
	sigset_t ending;         /* the signals of `taken` that end a wait */
	int fd;                  /* a signalfd(2) of `taken` */
	sigset_t inherited_mask;
	struct sigaction inherited_chld;
};

/* The signal that ended a command or a wait; or 0. */
struct end {
	int sig;
	int missed; /* typed while the command's group had the terminal: the
		     * rest of dlock's own group did not get the signal */
};

/* Take every signal that can be taken, unless it was ignored when dlock
 * started, as by nohup(1) or a shell's `&`.  -1 and errno on failure. */
int signals_take(struct signals *s);

/* Return the next signal, or 0. */
int signals_next(const struct signals *s);

/* Is `sig` HUP, INT, QUIT or TERM? */
int signals_is_ending(int sig);

/*
 * Die as the command did, so that a shell, make or xargs around us stops, too:
 * HUP, INT, QUIT and TERM.  Returns for other signals, and where the kernel
 * shields us, as the first process of a container.
 */
void signals_follow(const struct end *end);

/* In the forked child: as dlock was started.  Async-signal-safe. */
void signals_put_back(const struct signals *s);

#endif
