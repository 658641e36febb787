/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"
#include "exits.h"
#include "message.h"
#include "options.h"
#include "print.h"

#include <string.h>

int help_command(const struct command *cmd)
{
	printf("usage: dlock %s%s%s\n\n%s", cmd->name, *cmd->args ? " " : "",
	       cmd->args, cmd->text);
	puts("\nOptions:");
	options_print(stdout, cmd);
	return finish_output(LEAVE_OK);
}

void help_overview(FILE *out)
{
	fputs("usage: dlock COMMAND [OPTION]... [ARGUMENT]...\n\n", out);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name,
			commands[i]->summary);
	fputs("\n`dlock help COMMAND` says more, `dlock help exit` lists the "
	      "exit codes.\n"
	      "The store is named by -u or $DLOCK_URI, a password by "
	      "$DLOCK_PASSWORD.\n",
	      out);
}

static int help_main(const struct command *self, int argc, char **argv)
{
	const struct command *cmd;
	struct options o;

	if (!options_parse(&o, self, argc, argv))
		return o.status;
	if (o.n_args == 0) {
		help_overview(stdout);
		return finish_output(LEAVE_OK);
	}
	if (!strcmp(o.args[0], "exit")) {
		exits_print(stdout);
		return finish_output(LEAVE_OK);
	}
	cmd = command_find(o.args[0]);
	return cmd ? help_command(cmd) : LEAVE_USAGE;
}

const struct command cmd_help = {
	.name = "help",
	.args = "[COMMAND | exit]",
	.summary = "explain a command, or the exit codes",
	.text = "Explains COMMAND; `dlock help exit` lists the exit codes.\n",
	.options = "",
	.main = help_main,
};
