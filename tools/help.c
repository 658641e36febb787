/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"
#include "commands.h"
#include "conf.h"
#include "exits.h"
#include "message.h"
#include "options.h"
#include "print.h"
#include "store.h"
#include "usage.h"

#include <string.h>

void help_overview(FILE *out)
{
	fputs("usage: dlock COMMAND [OPTION]... [ARGUMENT]...\n\n", out);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name,
			commands[i]->summary);
	fputs("\n`dlock help COMMAND` says more, `dlock help exit` lists the "
	      "exit codes.\n"
	      "-u, $DLOCK_URI or a line `uri = URI` in "
	      "~/.config/dlock.conf or " CONF_SYSTEM "\n"
	      "names the store; `dlock help -v` says which.  $DLOCK_PASSWORD "
	      "has its password.\n",
	      out);
}

static int help_main(const struct command *self, int argc, char **argv)
{
	const struct command *cmd;
	struct options o;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args > 1)
		return fail(LEAVE_USAGE, "dlock help explains one COMMAND");
	if (o.n_args == 0) {
		help_overview(stdout);
		return finish_output(o.verbose ? store_explain() : LEAVE_OK);
	}
	if (!strcmp(o.args[0], "exit")) {
		exits_print(stdout);
		return finish_output(LEAVE_OK);
	}
	cmd = command_find(o.args[0]);
	return cmd ? print_usage(cmd) : LEAVE_USAGE;
}

static const enum option_id help_options[] = { OPTION_VERBOSE, OPTION_END };

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND | exit]",
	.summary = "explain a command, or the exit codes",
	.text = "Explains COMMAND; `dlock help exit` lists the exit codes, "
		"and `dlock help -v`\n"
		"says which store would be used, and what names it.\n",
	.options = help_options,
	.main = help_main,
};
