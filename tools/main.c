/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock - locks for shell scripts and operators.
 */
#include "command.h"
#include "exits.h"
#include "help.h"
#include "message.h"
#include "options.h"
#include "print.h"

#include <dlock/dlock.h>
#include <fcntl.h>
#include <string.h>

#define COMMANDS 8

const struct command *const commands[COMMANDS + 1] = {
	&cmd_run,     &cmd_show, &cmd_list,    &cmd_break, &cmd_backends,
	&cmd_compare, &cmd_help, &cmd_version, NULL,
};

const struct command *command_find(const char *name)
{
	const char *names[COMMANDS + 1] = { NULL };
	const char *meant;

	for (size_t i = 0; commands[i]; i++) {
		if (!strcmp(commands[i]->name, name))
			return commands[i];
		names[i] = commands[i]->name;
	}
	meant = nearest(name, names);
	if (meant)
		say("there is no command \"%s\": did you mean `dlock %s`?",
		    name, meant);
	else
		say("there is no command \"%s\": `dlock help` lists them",
		    name);
	return NULL;
}

static int version_main(const struct command *self, int argc, char **argv)
{
	struct options o;

	if (argc > 0 && !options_parse(&o, self, argc, argv))
		return o.status;
	printf("dlock %s\n", dlock_version());
	return finish_output(LEAVE_OK);
}

const struct command cmd_version = {
	.name = "version",
	.args = "",
	.summary = "print the version of the library",
	.text = "Prints the version of the library that the command uses.\n",
	.options = "",
	.main = version_main,
};

/* A descriptor of a lock must never be 2, where messages go.  The command that
 * is run finds closed what was closed, and to write there fails as it would. */
static int fill_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDONLY | O_CLOEXEC) != fd)
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	const char *word = argc > 1 ? argv[1] : "";

	if (!fill_standard())
		return LEAVE_SYSTEM;
	if (!*word) {
		help_overview(stderr);
		return LEAVE_USAGE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		cmd = &cmd_help;
	else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		cmd = &cmd_version;
	else if (*word == '-')
		return fail(LEAVE_USAGE,
			    "the command comes first, then its "
			    "options: `dlock help` lists the commands");
	else
		cmd = command_find(word);
	if (!cmd)
		return LEAVE_USAGE;
	return cmd->main(cmd, argc - 1, argv + 1);
}
