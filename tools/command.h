/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands.  Each has a file, and is described by a struct command. */
#ifndef DLOCK_TOOLS_COMMAND_H
#define DLOCK_TOOLS_COMMAND_H

#include "option.h"

struct command {
	const char *name;
	const char *args;    /* of the usage line */
	const char *summary; /* for the list of commands */
	const char *text;    /* paragraphs for `dlock help NAME` */
	const enum option_id *options; /* up to OPTION_END */
	int more_args;       /* that may follow NAME; see one_lock.h */
	int (*main)(const struct command *self, int argc, char **argv);
};

extern const struct command cmd_run, cmd_hold, cmd_show, cmd_list, cmd_break;
extern const struct command cmd_revoke, cmd_permits;
extern const struct command cmd_backends, cmd_compare, cmd_help, cmd_version;

#endif
