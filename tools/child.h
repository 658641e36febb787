/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the command.
 */
#ifndef DLOCK_TOOLS_CHILD_H
#define DLOCK_TOOLS_CHILD_H

#include "guard.h"
#include "signals.h"
#include "terminal.h"

#include <sys/types.h>

struct child {
	char **argv;
	char **envp;
	const struct signals *signals;
	struct terminal *terminal;
	const struct guard *guard;
	int64_t limit; /* for guard_tell() */
	enum on_loss on_loss; /* the command's fate when dlock ends */
	pid_t pid; /* out; also the process group */
};

/*
 * Start argv[0], searched in $PATH, in a new process group, with the signals as
 * dlock found them, and watched by the guard.  When dlock ends, the command
 * gets the signal of --on-loss.  Call it from the main thread.  Returns when
 * the program runs: 0; or an exit code with a message, and there is no child.
 */
int child_start(struct child *c);

/* Copy the environment and add the lock: DLOCK_NAME, DLOCK_URI (without a
 * password) and DLOCK_TOKEN if `token` is not 0.  DLOCK_PASSWORD is left out.
 * NULL: out of memory.  Free with child_env_free(). */
char **child_env(const char *name, const char *uri, unsigned long long token);
void child_env_free(char **envp);

#endif
