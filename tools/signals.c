/* SPDX-License-Identifier: Apache-2.0 */
#include "signals.h"

#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

/* Caused by dlock's own acts, and of no use to the command. */
static const int own[] = {
	SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGXCPU,
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static int ignored(int sig)
{
	struct sigaction action;

	return sigaction(sig, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

int signals_take(struct signals *s)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };

	/* Ignoring SIGCHLD would make the kernel swallow the exit status. */
	sigemptyset(&usual.sa_mask);
	if (sigaction(SIGCHLD, &usual, &s->inherited_chld) < 0)
		return -1;
	sigfillset(&s->taken);
	for (size_t i = 0; i < LENGTH(own); i++)
		sigdelset(&s->taken, own[i]);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (ignored(sig))
			sigdelset(&s->taken, sig);
	/* A broken standard error must not end a holder. */
	sigaddset(&s->taken, SIGPIPE);
	/* To print, and to move the terminal, from the background. */
	sigaddset(&s->taken, SIGTTOU);
	sigemptyset(&s->ending);
	for (size_t i = 0; i < LENGTH(ending); i++)
		if (sigismember(&s->taken, ending[i]))
			sigaddset(&s->ending, ending[i]);
	if (sigprocmask(SIG_BLOCK, &s->taken, &s->inherited_mask) < 0)
		return -1;
	s->fd = signalfd(-1, &s->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? -1 : 0;
}

int signals_next(const struct signals *s)
{
	struct signalfd_siginfo info;

	if (read(s->fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	return (int)info.ssi_signo;
}

int signals_is_ending(int sig)
{
	for (size_t i = 0; i < LENGTH(ending); i++)
		if (ending[i] == sig)
			return 1;
	return 0;
}

void signals_follow(const struct end *end)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t set;

	if (!signals_is_ending(end->sig))
		return;
	sigemptyset(&set);
	sigaddset(&set, end->sig);
	/* The command dumps a core; ours would overwrite it. */
	prctl(PR_SET_DUMPABLE, 0);
	/* A shell that runs a script obeys a signal of a child only if the
	 * shell got the same signal while it waited: send that first. */
	if (end->missed)
		kill(0, end->sig);
	sigaction(end->sig, &usual, NULL);
	kill(getpid(), end->sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void signals_put_back(const struct signals *s)
{
	sigaction(SIGCHLD, &s->inherited_chld, NULL);
	sigprocmask(SIG_SETMASK, &s->inherited_mask, NULL);
}
