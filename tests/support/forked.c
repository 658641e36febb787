/* SPDX-License-Identifier: Apache-2.0 */
#include "support/forked.h"

#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"

int in_forked_child(int (*run)(void))
{
	pid_t pid = fork();
	int status = 0;

	CHECK(pid >= 0);
	if (pid == 0) {
		alarm(20);
		_exit(run());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
				     WEXITSTATUS(status);
}
