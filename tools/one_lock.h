/* SPDX-License-Identifier: Apache-2.0 */
/* A command whose first argument names a lock. */
#ifndef DLOCK_TOOLS_ONE_LOCK_H
#define DLOCK_TOOLS_ONE_LOCK_H

#include "command.h"
#include "options.h"
#include "store.h"

/* Look at the options before the store is opened, and complete them: 0 or an
 * exit code, with a message. */
typedef int one_lock_check_fn(struct options *o);

/* Do the command's work on `lock`, which has the name o->args[0]: an exit code,
 * with a message if not 0. */
typedef int one_lock_fn(const struct options *o, const struct store *s,
			dlock_lock *lock);

/* Parse argv, open the store, make the lock's handle and call `work`; then
 * free and close them.  `check` may be NULL.  Returns the exit code. */
int one_lock_main(const struct command *self, int argc, char **argv,
		  one_lock_check_fn *check, one_lock_fn *work);

#endif
