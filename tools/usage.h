/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of --help and --version; both functions return an exit code. */
#ifndef DLOCK_TOOLS_USAGE_H
#define DLOCK_TOOLS_USAGE_H

#include "command.h"

/* As `dlock help NAME`. */
int print_usage(const struct command *cmd);

int print_version(void);

#endif
