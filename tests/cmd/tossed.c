/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tossed read|start COMMAND ARGUMENT...: run the command in a group of its own,
 * which has the terminal, and take the terminal away. "read": just before the
 * command reads standard input; then SIGTERM is to end the command. "start":
 * just before the command gives a child a group, to have the terminal; then the
 * command is to exit with 0, and to leave the terminal alone. Exit with 0 if
 * that is so.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define A_CALL (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

static int is_call(pid_t pid, int starts)
{
	struct __ptrace_syscall_info call;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call) <= 0 ||
	    call.op != PTRACE_SYSCALL_INFO_ENTRY)
		return 0;
	return starts ? call.entry.nr == SYS_setpgid :
			call.entry.nr == SYS_read && call.entry.args[0] == 0;
}

/* Pass signals on until the process is about to make the call. */
static int await_call(pid_t pid, int starts)
{
	intptr_t sig = 0;
	int status;

	while (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)sig) == 0 &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status);
		if (sig == A_CALL && is_call(pid, starts))
			return 1;
		if (sig == A_CALL || sig == SIGTRAP)
			sig = 0;
	}
	return 0;
}

static int toss(pid_t pid, int starts)
{
	const intptr_t how = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

	return ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)how) == 0 &&
	       tcsetpgrp(0, pid) == 0 && await_call(pid, starts) &&
	       tcsetpgrp(0, getpgrp()) == 0 &&
	       (starts || kill(pid, SIGTERM) == 0) &&
	       ptrace(PTRACE_DETACH, pid, NULL, NULL) == 0;
}

int main(int argc, char **argv)
{
	int status, starts;
	pid_t pid;

	if (argc < 3 || signal(SIGTTOU, SIG_IGN) == SIG_ERR)
		return 2;
	starts = strcmp(argv[1], "start") == 0;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		ptrace(PTRACE_TRACEME);
		raise(SIGSTOP);
		execv(argv[2], argv + 2);
		_exit(99);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !toss(pid, starts) ||
	    waitpid(pid, &status, 0) < 0)
		return 3;
	if (starts)
		return !(status == 0 && tcgetpgrp(0) == getpgrp());
	return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
