/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tossed FILE COMMAND ARGUMENT...: run the command in a group of its own, and
 * hand the terminal back and forth between that group and the program's own,
 * for as long as there is FILE. SIGWINCH wakes the command now and then. At the
 * end send SIGTERM, and exit with 0 if the command ended by that signal.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 3 || signal(SIGTTOU, SIG_IGN) == SIG_ERR)
		return 2;
	pid = fork();
	if (pid < 0)
		return 3;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		execv(argv[2], argv + 2);
		_exit(99);
	}
	setpgid(pid, pid);
	do {
		for (int i = 0; i < 20; i++) {
			tcsetpgrp(0, getpgrp());
			tcsetpgrp(0, pid);
		}
		kill(pid, SIGWINCH);
	} while (access(argv[1], F_OK) == 0);
	kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) < 0)
		return 3;
	return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
