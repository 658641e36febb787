/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void start(char *argv[])
{
	const char *dir = getenv("DLOCK_TEST_DIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : ".", argv[0]);
	execv(strchr(argv[0], '/') ? argv[0] : path, argv);
	fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
	_exit(2);
}

int run_program(char *argv[])
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		start(argv);
	while (pid < 0 || waitpid(pid, &status, 0) < 0) {
		if (pid >= 0 && errno == EINTR)
			continue;
		fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
		return 2;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
