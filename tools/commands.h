/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the subcommands.
 */
#ifndef DLOCK_TOOLS_COMMANDS_H
#define DLOCK_TOOLS_COMMANDS_H

#include "command.h"

extern const struct command *const commands[]; /* ends in NULL */

/* Find a command by name.  NULL: unknown; a message then suggests another. */
const struct command *command_find(const char *name);

#endif
