/* SPDX-License-Identifier: Apache-2.0 */
/* A terminal for a program, as a person sees it. */
#ifndef DLOCK_TESTS_CMD_SCREEN_H
#define DLOCK_TESTS_CMD_SCREEN_H

#include "support.h"

#include <stddef.h>

/* The other end of the terminal, and the output so far. */
struct screen {
	int fd;
	char text[65536];
	size_t used;
};

/* start(), as the leader of a session on a new terminal. */
void start_there(struct proc *p, struct screen *s, const char *const argv[]);

/* Read all output so far; whether the terminal has shown `text`. */
int shows(struct screen *s, const char *text);

void type(const struct screen *s, const char *keys);

#endif
