/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"
#include "exits.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Our variables; the last is never passed on. */
static const char *const ours[] = {
	"DLOCK_NAME",
	"DLOCK_URI",
	"DLOCK_TOKEN",
	"DLOCK_PASSWORD",
};

static int is_ours(const char *variable)
{
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		size_t n = strlen(ours[i]);

		if (!strncmp(variable, ours[i], n) && variable[n] == '=')
			return 1;
	}
	return 0;
}

char **child_env(const char *name, const char *uri, unsigned long long token)
{
	size_t count = 0, n = 0;
	char **envp;

	while (environ[count])
		count++;
	envp = calloc(count + 4, sizeof(*envp));
	if (!envp)
		return NULL;
	/* Ours come first, for child_env_free(). */
	if (asprintf(&envp[0], "DLOCK_NAME=%s", name) < 0) {
		envp[0] = NULL;
		goto fail;
	}
	if (asprintf(&envp[1], "DLOCK_URI=%s", uri) < 0) {
		envp[1] = NULL;
		goto fail;
	}
	n = 2;
	if (token > 0 && asprintf(&envp[n++], "DLOCK_TOKEN=%llu", token) < 0) {
		envp[2] = NULL;
		goto fail;
	}
	for (size_t i = 0; i < count; i++)
		if (!is_ours(environ[i]))
			envp[n++] = environ[i];
	return envp;
fail:
	child_env_free(envp);
	return NULL;
}

void child_env_free(char **envp)
{
	for (size_t i = 0; i < 3 && envp[i] && is_ours(envp[i]); i++)
		free(envp[i]);
	free(envp);
}

/* Become the command, in the child.  All calls are async-signal-safe: other
 * threads' locks may be held for ever. */
static void __attribute__((noreturn))
become(const struct child *c, pid_t parent, int report)
{
	static const int signals[] = {
		[ON_LOSS_KILL] = SIGKILL,
		[ON_LOSS_TERM] = SIGTERM,
		[ON_LOSS_WARN] = 0,
	};
	int why;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, signals[c->on_loss]);
	/* The parent may have died before the kernel knew of our wish. */
	if (getppid() != parent)
		_exit(LEAVE_SIGNAL + SIGKILL);
	/* The parent may be stopped before it tells the guard. */
	guard_tell(c->guard, getpid(), c->limit);
	if (c->terminal->eager)
		terminal_give(c->terminal, getpgid(parent), getpid());
	signals_put_back(c->signals);
	execvpe(c->argv[0], c->argv, c->envp);
	why = errno;
	if (write(report, &why, sizeof(why)) < 0)
		_exit(LEAVE_NOEXEC);
	_exit(LEAVE_NOTFOUND);
}

/* Return 0 if the exec closed the pipe, else the errno value of the exec. */
static int read_report(int fd)
{
	int why = 0;
	ssize_t n;

	do {
		n = read(fd, &why, sizeof(why));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(why) ? why : 0;
}

static int not_run(struct child *c, int why)
{
	int code = why == ENOENT ? LEAVE_NOTFOUND : LEAVE_NOEXEC;

	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	guard_tell(c->guard, 0, GUARD_FOREVER);
	terminal_take(c->terminal);
	c->pid = 0;
	return fail(code, "cannot run %s: %s", c->argv[0], strerror(why));
}

int child_start(struct child *c)
{
	pid_t self = getpid();
	int report[2], why;

	if (pipe2(report, O_CLOEXEC) < 0)
		return fail(exit_for_errno(errno), "pipe: %s", strerror(errno));
	c->pid = fork();
	if (c->pid == 0)
		become(c, self, report[1]);
	why = errno;
	close(report[1]);
	if (c->pid < 0) {
		close(report[0]);
		c->pid = 0;
		return fail(exit_for_errno(why), "fork: %s", strerror(why));
	}
	/* Parent and child both do both, so both are done when either needs
	 * them. */
	setpgid(c->pid, c->pid);
	if (c->terminal->eager)
		terminal_give(c->terminal, getpgrp(), c->pid);
	why = read_report(report[0]);
	close(report[0]);
	return why ? not_run(c, why) : 0;
}
