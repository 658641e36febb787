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
	sigset_t ending;         /* those of them that end a wait */
	int fd;                  /* a signalfd(2) of `taken` */
	sigset_t inherited_mask;
	struct sigaction inherited_chld;
};

/* The signal that ended a command or a wait; 0: none did. */
struct end {
	int sig;
	int missed; /* it was typed while the command's group had the terminal:
		     * the rest of dlock's own group did not get it */
};

/* Take every signal that can be taken and was not ignored when dlock started:
 * nohup(1) and `&` of a shell mean it.  -1 and errno on failure. */
int signals_take(struct signals *s);

/* The next signal that came, 0 if none. */
int signals_next(const struct signals *s);

/* Is `sig` HUP, INT, QUIT or TERM? */
int signals_is_ending(int sig);

/*
 * Die as the command did, so that a shell, make or xargs around us stops, too:
 * HUP, INT, QUIT and TERM.  Returns for other signals, and where the kernel
 * shields us, as it does the first process of a container.
 */
void signals_follow(const struct end *end);

/* In the forked child: as dlock was started.  Async-signal-safe. */
void signals_put_back(const struct signals *s);

#endif
