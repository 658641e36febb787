/* SPDX-License-Identifier: Apache-2.0 */
/* The processes and threads of workers. */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"
#include "lab/scenarios/trial.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAVE_MS 10000

extern char **environ;

static int spawn_worker(struct lab_worker *p, int fd)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int rc;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	rc = posix_spawn_file_actions_adddup2(&files, fd, LAB_WORKER_FD);
	/* A group of its own: stopped and killed with its children, and out of
	 * reach of the terminal. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
						POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	if (rc == 0)
		rc = posix_spawn(&p->pid, p->trial->worker_command[0], &files,
				 &attr, (char *const *)p->trial->worker_command,
				 environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(fd);
	return rc ? lab_fail("no worker: %s", strerror(rc)) : 0;
}

static void *run_thread(void *arg)
{
	struct lab_worker *p = arg;

	lab_work(p->thread_fd, p->trial->history);
	close(p->thread_fd);
	return NULL;
}

int lab_worker_start(struct lab_worker *p, bool process)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return lab_fail("no socket: %s", strerror(errno));
	p->fd = fds[0];
	if (process)
		return spawn_worker(p, fds[1]);
	p->thread_fd = fds[1];
	if (pthread_create(&p->thread, NULL, run_thread, p) == 0)
		return 0;
	close(fds[1]);
	close(p->fd);
	p->fd = -1;
	return lab_fail("no thread");
}

static int reaped(void *worker)
{
	struct lab_worker *p = worker;

	return waitpid(p->pid, NULL, WNOHANG) != 0;
}

/* Kill the whole process group, with a foreign command. */
static void kill_all(struct lab_worker *p)
{
	kill(-p->pid, SIGKILL);
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
}

void lab_worker_kill(struct lab_worker *p)
{
	if (!p || p->trial->failed || !p->pid || p->fd < 0)
		return;
	/* Record the death before the kill: another worker may have the lock at
	 * once.  Pause the worker first, so that it records no more after
	 * that. */
	kill(-p->pid, SIGSTOP);
	if (lab_pause(p->pid) < 0)
		lab_trial_fail(p->trial, "%s", lab_errmsg());
	lab_history_process(p->trial->history, LAB_KILLED, p->pid);
	kill_all(p);
	close(p->fd);
	p->fd = -1;
}

void lab_worker_pause(struct lab_worker *p)
{
	if (!p || p->trial->failed || !p->pid || p->fd < 0)
		return;
	kill(-p->pid, SIGSTOP);
	if (lab_pause(p->pid) < 0)
		lab_trial_fail(p->trial, "%s", lab_errmsg());
	lab_history_process(p->trial->history, LAB_PAUSED, p->pid);
}

void lab_worker_resume(struct lab_worker *p)
{
	if (!p || !p->pid || p->fd < 0)
		return;
	lab_history_process(p->trial->history, LAB_RESUMED, p->pid);
	kill(-p->pid, SIGCONT);
}

void lab_worker_end(struct lab_worker *p, bool hurry)
{
	if (p->pid) {
		kill(-p->pid, SIGCONT);
		if (hurry || !lab_wait_until(lab_after_ms(LEAVE_MS), reaped, p))
			kill_all(p);
	} else {
		shutdown(p->fd, SHUT_RDWR);
		pthread_join(p->thread, NULL);
	}
}
