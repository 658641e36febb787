/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"
#include "exits.h"
#include "option_table.h"
#include "print.h"

#include <dlock/dlock.h>
#include <stdio.h>

int print_usage(const struct command *cmd)
{
	printf("usage: dlock %s%s%s\n\n%s", cmd->name, *cmd->args ? " " : "",
	       cmd->args, cmd->text);
	puts("\nOptions:");
	options_print(stdout, cmd);
	return finish_output(LEAVE_OK);
}

int print_version(void)
{
	printf("dlock %s\n", dlock_version());
	return finish_output(LEAVE_OK);
}
