/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"
#include "message.h"

#include <string.h>

#define COMMANDS 11

const struct command *const commands[COMMANDS + 1] = {
	&cmd_run,     &cmd_hold,   &cmd_show,    &cmd_list,
	&cmd_permits, &cmd_revoke, &cmd_break,   &cmd_backends,
	&cmd_compare, &cmd_help,   &cmd_version, NULL,
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
