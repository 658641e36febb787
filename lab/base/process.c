/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/process.h"
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/supervisor.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct lab_process {
	struct lab_process *next;
	pid_t owner; /* a forked child must not talk to the supervisor */
	pid_t supervisor;
	pid_t pid;
	bool running; /* as far as is known */
	int status;
	int ctl;
	char dir[];
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct lab_process *list;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void lab_arg(struct lab_args *args, const char *format, ...)
{
	size_t room = sizeof(args->text) - args->len;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(args->text + args->len, room, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room || args->count == LAB_ARGS) {
		args->full = true;
		return;
	}
	args->len += (size_t)n + 1;
	args->count++;
}

/* At exit the supervisors would clean up anyway, but perhaps later than our
 * parent process looks for leftovers. */
static void free_all(void)
{
	while (list && list->owner == getpid())
		lab_process_free(list);
}

static void at_exit(void)
{
	atexit(free_all);
}

static int start_supervisor(struct lab_process *p)
{
	int fds[2];
	int self;

	/* valgrind knows no pidfd: the supervisor's socket has to do, which our
	 * forked children keep open as well. */
	self = pidfd_open(getpid(), 0);
	if (self < 0 && errno != ENOSYS)
		return lab_fail("pidfd_open: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		lab_fail("socketpair: %s", strerror(errno));
		if (self >= 0)
			close(self);
		return -1;
	}
	p->supervisor = fork();
	if (p->supervisor == 0) {
		close(fds[0]);
		lab_supervise(fds[1], self, p->dir);
	}
	if (self >= 0)
		close(self);
	close(fds[1]);
	p->ctl = fds[0];
	if (p->supervisor < 0) {
		lab_fail("fork: %s", strerror(errno));
		close(p->ctl);
		return -1;
	}
	return 0;
}

/* Receive an answer; false: the supervisor is gone. */
static bool hear_supervisor(struct lab_process *p,
			    struct lab_supervisor_answer *a)
{
	ssize_t n;

	do {
		n = recv(p->ctl, a, sizeof(*a), 0);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(*a);
}

/* Start the supervisor, and learn the name of the directory that it makes. */
static int start_in_new_dir(struct lab_process *p)
{
	struct lab_supervisor_answer a = { .error = ECHILD };

	if (start_supervisor(p) < 0)
		return -1;
	if (hear_supervisor(p, &a) && !a.error) {
		memcpy(p->dir + strlen(p->dir) - sizeof(a.end), a.end,
		       sizeof(a.end));
		return 0;
	}
	close(p->ctl);
	waitpid(p->supervisor, NULL, 0);
	return lab_fail("%s: %s", p->dir, strerror(a.error));
}

struct lab_process *lab_process_new(char *dir)
{
	struct lab_process *p = calloc(1, sizeof(*p) + strlen(dir) + 1);

	if (!p) {
		lab_fail("out of memory");
		return NULL;
	}
	memcpy(p->dir, dir, strlen(dir) + 1);
	p->owner = getpid();
	if (start_in_new_dir(p) < 0) {
		free(p);
		return NULL;
	}
	memcpy(dir, p->dir, strlen(dir));
	pthread_once(&once, at_exit);
	pthread_mutex_lock(&list_lock);
	p->next = list;
	list = p;
	pthread_mutex_unlock(&list_lock);
	return p;
}

/* Send an order with `len` bytes of text, and receive the answer. */
static int send_order(struct lab_process *p,
		      const struct lab_supervisor_order *o, size_t len,
		      struct lab_supervisor_answer *a)
{
	len += offsetof(struct lab_supervisor_order, text);
	if (p->owner != getpid())
		return lab_fail("this server belongs to the parent process");
	if (send(p->ctl, o, len, MSG_NOSIGNAL) < 0)
		return lab_fail("the server's supervisor is gone: %s",
				strerror(errno));
	if (!hear_supervisor(p, a))
		return lab_fail("the server's supervisor is gone");
	return 0;
}

int lab_process_spawn(struct lab_process *p, const struct lab_args *args)
{
	struct lab_supervisor_order o = { .verb = LAB_SPAWN,
					  .args = args->count };
	struct lab_supervisor_answer a;

	if (args->full || !args->count)
		return lab_fail("the command line is too long, or empty");
	memcpy(o.text, args->text, args->len);
	if (send_order(p, &o, args->len, &a) < 0)
		return -1;
	if (a.error == ENOENT)
		return lab_fail("%s: not found; is it installed, and in PATH?",
				args->text);
	if (a.error)
		return lab_fail("starting %s: %s", args->text,
				strerror(a.error));
	p->pid = a.pid;
	p->running = true;
	return 0;
}

pid_t lab_process_pid(const struct lab_process *p)
{
	return p->pid;
}

int lab_process_signal(struct lab_process *p, int sig)
{
	struct lab_supervisor_order o = { .verb = LAB_SIGNAL, .sig = sig };
	struct lab_supervisor_answer a;

	if (send_order(p, &o, 0, &a) < 0)
		return -1;
	if (a.error)
		return lab_fail("signal %d: %s", sig, strerror(a.error));
	return 0;
}

/* 1: the process has ended; 0: it runs; -1: the supervisor does not answer. */
static int has_ended(void *arg)
{
	struct lab_supervisor_order o = { .verb = LAB_REAP };
	struct lab_process *p = arg;
	struct lab_supervisor_answer a;

	if (send_order(p, &o, 0, &a) < 0)
		return -1;
	if (a.error == EAGAIN)
		return 0;
	if (a.error)
		return lab_fail("waiting for process %d: %s", (int)p->pid,
				strerror(a.error));
	p->running = false;
	p->status = a.status;
	return 1;
}

int lab_process_reap(struct lab_process *p, int64_t deadline, int *status)
{
	int answer = p->running ? lab_wait_until(deadline, has_ended, p) : 1;

	if (answer == 0)
		return lab_fail("process %d is still running", (int)p->pid);
	*status = p->status;
	return answer < 0 ? -1 : 0;
}

void lab_process_free(struct lab_process *p)
{
	struct lab_process **at;

	if (!p)
		return;
	pthread_mutex_lock(&list_lock);
	for (at = &list; *at && *at != p; at = &(*at)->next)
		;
	if (*at)
		*at = p->next;
	pthread_mutex_unlock(&list_lock);
	close(p->ctl);
	if (p->owner == getpid())
		while (waitpid(p->supervisor, NULL, 0) < 0 && errno == EINTR)
			;
	free(p);
}
