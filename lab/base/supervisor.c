/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/supervisor.h"
#include "lab/base/clock.h"
#include "lab/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS_END_MS 10000

struct supervisor {
	int ctl;
	int owner;
	const char *dir;
	pid_t pid; /* of the server; 0 before the first and once reaped */
};

/* Our parent's descriptors would keep its pipes and sockets open. */
static void close_others(int a, int b)
{
	unsigned lo = (unsigned)(a < b ? a : b);
	unsigned hi = (unsigned)(a < b ? b : a);

	if (lo > 3)
		close_range(3, lo - 1, 0);
	if (hi > lo + 1)
		close_range(lo + 1, hi - 1, 0);
	close_range(hi + 1, ~0U, 0);
}

static void quiet_stdio(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	for (int i = 0; i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void default_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &dfl, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Become the server, in the child.  Returns only if exec fails. */
static void become(struct supervisor *k, struct lab_supervisor_order *o,
		   pid_t supervisor)
{
	char *argv[LAB_ARGS + 1];
	char *text = o->text;
	int dir;
	int log;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != supervisor)
		_exit(127);
	setpgid(0, 0);
	dir = open(k->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fchdir(dir) < 0)
		return;
	log = open(LAB_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		return;
	for (int i = 0; i < o->args; i++) {
		argv[i] = text;
		text += strlen(text) + 1;
	}
	argv[o->args] = NULL;
	execvp(argv[0], argv);
}

/* The pipe tells a failed exec from a server that ended at once. */
static void spawn_command(struct supervisor *k, struct lab_supervisor_order *o,
			  struct lab_supervisor_answer *a)
{
	pid_t self = getpid();
	int fds[2];

	if (k->pid) {
		a->error = EBUSY;
		return;
	}
	if (pipe2(fds, O_CLOEXEC) < 0) {
		a->error = errno;
		return;
	}
	k->pid = fork();
	if (k->pid == 0) {
		become(k, o, self);
		a->error = errno;
		if (write(fds[1], &a->error, sizeof(a->error)) < 0)
			_exit(126);
		_exit(127);
	}
	if (k->pid < 0)
		a->error = errno;
	close(fds[1]);
	if (k->pid > 0 && read(fds[0], &a->error, sizeof(a->error)) > 0)
		waitpid(k->pid, NULL, 0);
	close(fds[0]);
	if (a->error)
		k->pid = 0;
	a->pid = k->pid;
}

static void obey(struct supervisor *k, struct lab_supervisor_order *o,
		 struct lab_supervisor_answer *a)
{
	pid_t n;

	switch (o->verb) {
	case LAB_SPAWN:
		spawn_command(k, o, a);
		return;
	case LAB_SIGNAL:
		/* Children that save the server's data die with the server. */
		if (!k->pid)
			a->error = ESRCH;
		else if (kill(o->sig == SIGKILL ? -k->pid : k->pid, o->sig) < 0)
			a->error = errno;
		return;
	case LAB_REAP:
		n = k->pid ? waitpid(k->pid, &a->status, WNOHANG) : -1;
		if (n > 0)
			k->pid = 0;
		else
			a->error = n ? ECHILD : EAGAIN;
		return;
	}
	a->error = EINVAL;
}

/* 1: `dir` is gone. */
static int remove_dir(void *dir)
{
	char *argv[] = { "rm", "-rf", "--", dir, NULL };
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* A worker of our owner may write to the directory until the worker notices
 * that the owner is gone: then rm fails, and has to run again. */
static void clean_up(struct supervisor *k)
{
	if (k->pid) {
		kill(-k->pid, SIGKILL);
		kill(k->pid, SIGKILL);
		waitpid(k->pid, NULL, 0);
	}
	lab_wait_until(lab_after_ms(WORKERS_END_MS), remove_dir,
		       (void *)k->dir);
}

/* Receive the next order; false at the end of orders. */
static bool next_order(struct supervisor *k, struct lab_supervisor_order *o)
{
	struct pollfd p[2] = { { .fd = k->ctl, .events = POLLIN },
			       { .fd = k->owner, .events = POLLIN } };

	while (poll(p, 2, -1) < 0)
		if (errno != EINTR)
			return false;
	if (p[1].revents)
		return false;
	return recv(k->ctl, o, sizeof(*o), 0) > 0;
}

void lab_supervise(int ctl, int owner, char *dir)
{
	struct supervisor k = { .ctl = ctl, .owner = owner, .dir = dir };
	struct lab_supervisor_order order;
	struct lab_supervisor_answer answer;

	/* A terminal's ^C is for our owner: the supervisor cleans up
	 * afterwards. */
	setsid();
	default_signals();
	close_others(ctl, owner < 0 ? ctl : owner);
	quiet_stdio();
	/* Our parent, killed right after a mkdir(), would leave the
	 * directory. */
	memset(&answer, 0, sizeof(answer));
	if (!mkdtemp(dir))
		answer.error = errno;
	memcpy(answer.end, dir + strlen(dir) - sizeof(answer.end),
	       sizeof(answer.end));
	send(ctl, &answer, sizeof(answer), MSG_NOSIGNAL);
	if (answer.error)
		_exit(0);
	while (next_order(&k, &order)) {
		memset(&answer, 0, sizeof(answer));
		obey(&k, &order, &answer);
		if (send(ctl, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	clean_up(&k);
	_exit(0);
}
