/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of options: what parses them and what prints them read it.
 */
#ifndef DLOCK_TOOLS_OPTION_TABLE_H
#define DLOCK_TOOLS_OPTION_TABLE_H

#include "command.h"

#include <getopt.h>
#include <stdio.h>

#define MOST_OPTIONS 40

/* What getopt_long(3) wants to know of the options that a command takes.  It
 * answers for each of them with one of enum option_id, or with a letter. */
struct option_spec {
	char letters[2 * MOST_OPTIONS + 3];
	struct option words[MOST_OPTIONS + 1];
	const char *names[MOST_OPTIONS + 1]; /* ends in NULL */
};

void option_spec_make(struct option_spec *spec, const struct command *cmd);

/* The option that getopt_long() answered for, and back: the letter people type
 * for it, 0 if it has none. */
enum option_id option_of(int answer);
char option_letter(enum option_id option);

/* The options that `cmd` takes, a line each. */
void options_print(FILE *out, const struct command *cmd);

#endif
