/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of all subcommands: one table gives parser and help.
 */
#ifndef DLOCK_TOOLS_OPTIONS_H
#define DLOCK_TOOLS_OPTIONS_H

#include "command.h"

#include <stddef.h>
#include <stdint.h>

enum kind { KIND_LOCK, KIND_SEMAPHORE };

/* The fate of a command when the lock is lost, or about to be. */
enum on_loss {
	ON_LOSS_KILL, /* TERM while there is time, and KILL in time */
	ON_LOSS_TERM, /* TERM alone */
	ON_LOSS_WARN, /* the command goes on */
};

#define MOST_FOREIGN 8

struct options {
	char *uri;          /* from the command line, or NULL */
	const char *require; /* likewise */
	const char *label;
	int64_t wait_ms;    /* as for dlock_acquire() */
	int64_t grace_ms;   /* -1: not given */
	int64_t at_least_ms; /* to hold the lock */
	enum on_loss on_loss;
	int end_if_wanted;  /* --on-wanted=term */
	char *shell_line;   /* of -c; NULL: not given */
	enum kind kind;
	uint32_t permits;   /* of KIND_SEMAPHORE */
	uint32_t take;      /* so many of them; 0: one, or the lock */
	int shared;
	uint32_t conflict;  /* exit code for a busy lock */
	int json, metrics, yes, verbose;
	int in_full;        /* -l */
	/* Options of dlock compare; a string is NULL if not given. */
	int lab, quick;
	const char *only, *keep;
	const char *json_file, *markdown_file, *html_file;
	const char *foreign[MOST_FOREIGN];
	size_t n_foreign;
	int has_seed;
	uint64_t seed;

	char **args;        /* the words after the options, ends in NULL */
	int n_args;
	int status;         /* if options_parse() answered 0: the exit code */
};

/*
 * Parse the options of `cmd`; argv[0] is the command's name.  Returns 1 to go
 * on.  0: a message or the help was printed, leave with o->status.  Strings are
 * borrowed from argv.
 */
int options_parse(struct options *o, const struct command *cmd, int argc,
		  char **argv);

#endif
