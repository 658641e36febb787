/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlock - locks for shell scripts and operators.
 */
#include "commands.h"
#include "exits.h"
#include "help.h"
#include "message.h"
#include "modules.h"

#include <fcntl.h>
#include <string.h>

/* Fill the closed standard descriptors: a descriptor of a lock must never be 2,
 * where messages go.  A standard descriptor closed for dlock is closed for the
 * command, too. */
static int fill_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", O_RDONLY | O_CLOEXEC) != fd)
			return 0;
	return 1;
}

/* Load the options' backends, ahead of the command name; *at is the first word
 * behind them. */
static int load_backends(int argc, char **argv, int *at)
{
	static const char option[] = "--backend";
	const size_t n = sizeof(option) - 1;
	int status = LEAVE_OK;

	for (*at = 1; status == LEAVE_OK && *at < argc; ++*at) {
		const char *word = argv[*at];

		if (strncmp(word, option, n) != 0 ||
		    (word[n] && word[n] != '='))
			break;
		if (word[n] == '=')
			status = modules_load(word + n + 1);
		else if (*at + 1 < argc)
			status = modules_load(argv[++*at]);
		else
			status = fail(LEAVE_USAGE, "--backend wants the file "
						   "of a store");
	}
	return status;
}

int main(int argc, char **argv)
{
	const struct command *cmd;
	const char *word;
	int at, status;

	if (!fill_standard())
		return LEAVE_SYSTEM;
	status = load_backends(argc, argv, &at);
	if (status != LEAVE_OK)
		return status;
	word = at < argc ? argv[at] : "";
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
	return cmd->main(cmd, argc - at, argv + at);
}
