/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tossed COMMAND ARGUMENT...: run the command in a group of its own, which has
 * the terminal, until the command reads standard input. Just before the read
 * take the terminal away and send SIGTERM. Exit with 0 if SIGTERM ended the
 * command.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define A_CALL (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

static int reads_input(pid_t pid)
{
	struct __ptrace_syscall_info call;

	return ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call) > 0 &&
	       call.op == PTRACE_SYSCALL_INFO_ENTRY &&
	       call.entry.nr == SYS_read && call.entry.args[0] == 0;
}

/* Pass signals on until the process is about to read the input. */
static int await_read(pid_t pid)
{
	intptr_t sig = 0;
	int status;

	while (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)sig) == 0 &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status);
		if (sig == A_CALL && reads_input(pid))
			return 1;
		if (sig == A_CALL || sig == SIGTRAP)
			sig = 0;
	}
	return 0;
}

static int toss(pid_t pid)
{
	const intptr_t how = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

	return ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)how) == 0 &&
	       tcsetpgrp(0, pid) == 0 && await_read(pid) &&
	       tcsetpgrp(0, getpgrp()) == 0 && kill(pid, SIGTERM) == 0 &&
	       ptrace(PTRACE_DETACH, pid, NULL, NULL) == 0;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 2 || signal(SIGTTOU, SIG_IGN) == SIG_ERR)
		return 2;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		ptrace(PTRACE_TRACEME);
		raise(SIGSTOP);
		execv(argv[1], argv + 1);
		_exit(99);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !toss(pid) ||
	    waitpid(pid, &status, 0) < 0)
		return 3;
	return !(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}
