/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores in shared objects, which the user names.
 */
#ifndef DLOCK_TOOLS_MODULES_H
#define DLOCK_TOOLS_MODULES_H

/* All return LEAVE_OK, or the status to leave with after a message. */

int modules_load(const char *file);

/* Load the backends of $DLOCK_BACKENDS, paths with a ':' between.  A program
 * that runs with more rights than the user ignores the variable. */
int modules_from_environment(void);

/* Have the processes that this process starts load the same backends. */
int modules_pass_on(void);

#endif
