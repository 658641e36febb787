/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TOOLS_HELP_H
#define DLOCK_TOOLS_HELP_H

#include "command.h"

#include <stdio.h>

/* Print what `dlock help NAME` prints; returns an exit code. */
int help_command(const struct command *cmd);

/* The list of commands. */
void help_overview(FILE *out);

#endif
