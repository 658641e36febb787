/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main() of a program for a store's cases:
 *
 *   PROGRAM model|real|record [FILE...]
 *
 * All cases, unless files are named.  Record: write the files to standard
 * output with the real server's replies.
 */
#ifndef DLOCK_TESTS_SIM_FILES_H
#define DLOCK_TESTS_SIM_FILES_H

#include "sim/play.h"

struct play_count play_files(struct play_server *s, char *files[],
			     FILE *record);

typedef struct play_count play_with(char *files[], FILE *record);

/* `dir` has the cases.  Returns the exit status. */
int play_main(char *argv[], const char *dir, play_with *with_model,
	      play_with *with_real);

#endif
