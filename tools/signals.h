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

/* Take every signal that can be taken and was not ignored by who started us:
 * nohup(1) and `&` of a shell mean it.  -1 and errno on failure. */
int signals_take(struct signals *s);

/* The next signal that came, 0 if none. */
int signals_next(const struct signals *s);

/* In the forked child: as dlock was started.  Async-signal-safe. */
void signals_put_back(const struct signals *s);

#endif
