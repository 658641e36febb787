/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inherited: print the process state of a program started by the command:
 * descriptors ("fd N"), blocked signals ("blocked N"), ignored signals
 * ("ignored N"), "leader" of a process group, and the environment ("env
 * NAME=VALUE").
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int print_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' &&
		    atoi(entry->d_name) != dirfd(dir))
			printf("fd %s\n", entry->d_name);
	closedir(dir);
	return 1;
}

int main(void)
{
	sigset_t blocked;

	if (!print_fds())
		return 2;
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	for (int sig = 1; sig <= SIGRTMAX; sig++) {
		struct sigaction action;

		if (sigismember(&blocked, sig) == 1)
			printf("blocked %d\n", sig);
		if (sigaction(sig, NULL, &action) == 0 &&
		    action.sa_handler == SIG_IGN)
			printf("ignored %d\n", sig);
	}
	if (getpgrp() == getpid())
		puts("leader");
	for (char **env = environ; *env; env++)
		printf("env %s\n", *env);
	return fflush(stdout) == EOF ? 3 : 0;
}
