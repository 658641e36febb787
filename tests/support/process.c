/* SPDX-License-Identifier: Apache-2.0 */
#include "support/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/wait.h"

/* Runs in the child between fork and exec, so only async-signal-safe calls may
 * stand here. */
static void place(const struct process_files *f)
{
	int fd[2];

	/* Moves the descriptors away from 3 and 4. */
	for (int i = 0; i < 2; i++)
		fd[i] = f->keep[i] < 0 ? -1 :
					 fcntl(f->keep[i], F_DUPFD_CLOEXEC, 10);
	if (f->out >= 0) {
		dup2(f->out, STDOUT_FILENO);
		dup2(f->out, STDERR_FILENO);
	}
	for (int i = 0; i < 2; i++) {
		if (fd[i] >= 0)
			dup2(fd[i], 3 + i);
	}
}

pid_t process_start(char *const argv[], const struct process_files *files,
		    int group)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid != 0) {
		if (pid > 0 && group)
			setpgid(pid, pid);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	if (group)
		setpgid(0, 0);
	place(files);
	execv(files->program ? files->program : "/proc/self/exe", argv);
	_exit(127);
}

int process_wait(pid_t pid, int64_t within_ms)
{
	int64_t end = now_ms() + within_ms;
	int status;

	for (;;) {
		pid_t got = waitpid(pid, &status, WNOHANG);

		if (got == pid)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
						     WEXITSTATUS(status);
		if ((got < 0 && errno != EINTR) || now_ms() >= end)
			return -1;
		nap_ms(1);
	}
}

void process_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	process_wait(pid, INT64_C(60000));
}
