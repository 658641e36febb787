/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the subcommands.
 */
#ifndef DLOCK_TOOLS_COMMANDS_H
#define DLOCK_TOOLS_COMMANDS_H

#include "command.h"

extern const struct command *const commands[]; /* ends in NULL */

/* NULL if there is none; then a message was printed that suggests one. */
const struct command *command_find(const char *name);

#endif
