/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DLOCK_TOOLS_HELP_H
#define DLOCK_TOOLS_HELP_H

#include <stdio.h>

/* The list of commands. */
void help_overview(FILE *out);

#endif
