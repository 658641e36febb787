/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads of parties. */
#include "lab/clock.h"
#include "lab/fail.h"
#include "lab/party_impl.h"
#include "lab/process.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAVE_MS 10000

extern char **environ;

int lab_worker_main(void)
{
	struct lab_hello peek;

	/* Whoever started us may have gone before this took effect: then the
	 * parent is another one. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (recv(LAB_WORKER_FD, &peek, sizeof(peek), MSG_PEEK) !=
		    sizeof(peek) ||
	    peek.parent != getppid())
		return 1;
	lab_work(LAB_WORKER_FD, NULL);
	return 0;
}

static int spawn(struct lab_party *p, int fd)
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
	/* A group of its own: stopped and killed with what it starts, and out
	 * of reach of the terminal. */
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
						POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	if (rc == 0)
		rc = posix_spawn(&p->pid, p->trial->worker[0], &files, &attr,
				 (char *const *)p->trial->worker, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(fd);
	return rc ? lab_fail("no worker: %s", strerror(rc)) : 0;
}

static void *run_thread(void *arg)
{
	struct lab_party *p = arg;

	lab_work(p->thread_fd, p->trial->history);
	close(p->thread_fd);
	return NULL;
}

int lab_party_start(struct lab_party *p, bool process)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return lab_fail("no socket: %s", strerror(errno));
	p->fd = fds[0];
	if (process)
		return spawn(p, fds[1]);
	p->thread_fd = fds[1];
	if (pthread_create(&p->thread, NULL, run_thread, p) == 0)
		return 0;
	close(fds[1]);
	close(p->fd);
	p->fd = -1;
	return lab_fail("no thread");
}

static int reaped(void *party)
{
	struct lab_party *p = party;

	return waitpid(p->pid, NULL, WNOHANG) != 0;
}

/* With the rest of its group, which a foreign command is in. */
static void kill_all(struct lab_party *p)
{
	kill(-p->pid, SIGKILL);
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
}

void lab_party_kill(struct lab_party *p)
{
	if (!p || p->trial->failed || !p->pid || p->fd < 0)
		return;
	/* Written down before: its lock may be another's the moment it dies.
	 * It is stopped first, so that it writes nothing after. */
	kill(-p->pid, SIGSTOP);
	if (lab_pause(p->pid) < 0)
		lab_trial_fail(p->trial, "%s", lab_errmsg());
	lab_history_process(p->trial->history, LAB_KILLED, p->pid);
	kill_all(p);
	close(p->fd);
	p->fd = -1;
}

void lab_party_pause(struct lab_party *p)
{
	if (!p || p->trial->failed || !p->pid || p->fd < 0)
		return;
	kill(-p->pid, SIGSTOP);
	if (lab_pause(p->pid) < 0)
		lab_trial_fail(p->trial, "%s", lab_errmsg());
	lab_history_process(p->trial->history, LAB_PAUSED, p->pid);
}

void lab_party_resume(struct lab_party *p)
{
	if (!p || !p->pid || p->fd < 0)
		return;
	lab_history_process(p->trial->history, LAB_RESUMED, p->pid);
	kill(-p->pid, SIGCONT);
}

void lab_party_end(struct lab_party *p, bool hurry)
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
