/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of all subcommands: one table gives parser and help.
 */
#ifndef DLOCK_TOOLS_OPTIONS_H
#define DLOCK_TOOLS_OPTIONS_H

#include "command.h"

#include <stdint.h>
#include <stdio.h>

enum kind { KIND_RWLOCK, KIND_MUTEX, KIND_SEMAPHORE };

#define MOST_FOREIGN 8

struct options {
	char *uri;          /* from the command line, or NULL */
	const char *label;
	int64_t wait_ms;    /* as dlock_acquire() takes it */
	int64_t grace_ms;   /* -1: not given */
	enum kind kind;
	uint32_t permits;   /* of KIND_SEMAPHORE */
	int shared;
	int conflict;       /* exit code for a lock that is busy */
	int json, yes, verbose;
	/* Of a comparison; strings NULL if not given. */
	int lab, quick;
	const char *only, *keep;
	const char *json_file, *markdown_file, *html_file;
	const char *foreign[MOST_FOREIGN];
	size_t n_foreign;
	uint64_t seed;      /* 0: not given */

	char **args;        /* what follows the options, ends in NULL */
	int n_args;
	int status;         /* if options_parse() answered 0: leave with it */
};

/*
 * Parse the options that `cmd` takes; argv[0] is the command's name.  Returns 1
 * to go on.  0: a message or the help was printed, leave with o->status.
 * Strings are borrowed from argv.
 */
int options_parse(struct options *o, const struct command *cmd, int argc,
		  char **argv);

/* The options that `cmd` takes, a line each. */
void options_print(FILE *out, const struct command *cmd);

#endif
