/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options, for the parser and the help. */
#ifndef DLOCK_TOOLS_OPTION_TABLE_H
#define DLOCK_TOOLS_OPTION_TABLE_H

#include "command.h"

#include <getopt.h>
#include <stdio.h>

#define MOST_OPTIONS 40
#define ANSWER_WORD 1

/* A command's options, as getopt_long(3) takes them.  The answer for each is
 * for option_of(); a word that is no option is answered by ANSWER_WORD, except
 * with `dlock run`: there the options end with the word. */
struct option_spec {
	char letters[2 * MOST_OPTIONS + 3];
	struct option words[MOST_OPTIONS + 1];
	const char *names[MOST_OPTIONS + 1]; /* ends in NULL */
};

void option_spec_make(struct option_spec *spec, const struct command *cmd);

/* Return the option of getopt_long()'s answer, and back: the option's letter,
 * or 0. */
enum option_id option_of(int answer);
char option_letter(enum option_id option);

int option_taken(const struct command *cmd, enum option_id option);

/* Print the options of `cmd`, a line each. */
void options_print(FILE *out, const struct command *cmd);

#endif
