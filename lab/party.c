/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/party.h"
#include "lab/clock.h"
#include "lab/fail.h"
#include "lab/process.h"
#include "lab/trial.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOIN_MS 20000
#define PATIENCE_MS 20000
#define LEAVE_MS 10000
#define SLICE_MS 50 /* how soon a stop is noticed */

extern char **environ;

struct lab_party {
	struct lab_party *next;
	struct lab_trial *trial;
	const char *label;
	int fd;    /* -1 once it has gone */
	pid_t pid; /* 0 of a thread */
	pthread_t thread;
	int thread_fd; /* its end */
	struct lab_reply hello;
	struct lab_reply reply; /* that came while another was waited for */
	bool replied;
};

/* ---- Processes and threads ----------------------------------------------- */

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

static int start(struct lab_party *p, bool process)
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

/* ---- Talking ------------------------------------------------------------- */

/* The next packet; false: none by then, or the worker is gone. */
static bool receive(struct lab_party *p, int64_t deadline,
		    struct lab_reply *reply)
{
	while (p->fd >= 0) {
		struct pollfd q = { .fd = p->fd, .events = POLLIN };
		int64_t slice = lab_after_ms(SLICE_MS);
		int n = poll(&q, 1,
			     lab_poll_ms(slice < deadline ? slice : deadline));

		if (n > 0)
			return recv(p->fd, reply, sizeof(*reply), 0) ==
			       sizeof(*reply);
		if (lab_trial_stopped(p->trial))
			lab_trial_fail(p->trial, "interrupted");
		if (lab_now() >= deadline || p->trial->failed)
			return false;
	}
	return false;
}

/* What kind of reply is wanted; the other one is put aside. */
static bool next(struct lab_party *p, int64_t deadline, bool side,
		 struct lab_reply *reply)
{
	if (!side && p->replied) {
		*reply = p->reply;
		p->replied = false;
		return true;
	}
	while (receive(p, deadline, reply)) {
		if ((reply->verb > LAB_SIDE) == side)
			return true;
		if (!side)
			continue; /* one that came too late */
		p->reply = *reply;
		p->replied = true;
	}
	return false;
}

void lab_tell(struct lab_party *p, const struct lab_errand *e)
{
	if (!p || p->fd < 0 || p->trial->failed)
		return;
	if (send(p->fd, e, sizeof(*e), MSG_NOSIGNAL) < 0)
		lab_trial_fail(p->trial, "%s is gone: %s", p->label,
			       strerror(errno));
}

struct lab_reply lab_hear(struct lab_party *p, int64_t ms)
{
	struct lab_reply r = { .rc = LAB_NO_REPLY };

	if (!p || p->trial->failed || !next(p, lab_after_ms(ms), false, &r)) {
		memset(&r, 0, sizeof(r));
		r.rc = LAB_NO_REPLY;
		snprintf(r.text, sizeof(r.text), "no answer in %d ms", (int)ms);
	}
	return r;
}

struct lab_reply lab_do(struct lab_party *p, const struct lab_errand *e)
{
	lab_tell(p, e);
	return lab_hear(p, PATIENCE_MS +
				   (e->timeout_ms > 0 ? e->timeout_ms : 0) +
				   e->run_ms);
}

bool lab_busy(struct lab_party *p, int64_t ms)
{
	if (!p || p->trial->failed || p->replied)
		return false;
	p->replied = next(p, lab_after_ms(ms), false, &p->reply);
	return !p->replied;
}

static struct lab_errand on_lock(struct lab_party *p,
				 enum lab_verb_of_worker verb)
{
	struct lab_errand e = { .verb = verb };

	snprintf(e.name, sizeof(e.name), "%s", p->trial->name);
	return e;
}

void lab_tell_take(struct lab_party *p, int64_t timeout_ms)
{
	struct lab_errand e;

	if (!p)
		return;
	e = on_lock(p, LAB_DO_ACQUIRE);
	e.timeout_ms = timeout_ms;
	lab_tell(p, &e);
}

struct lab_reply lab_take(struct lab_party *p, int64_t timeout_ms)
{
	lab_tell_take(p, timeout_ms);
	return lab_hear(p, PATIENCE_MS + (timeout_ms > 0 ? timeout_ms : 0));
}

struct lab_reply lab_give(struct lab_party *p)
{
	struct lab_errand e = { .verb = LAB_DO_RELEASE };

	return lab_do(p, &e);
}

struct lab_reply lab_beside(struct lab_party *p, enum lab_verb_of_worker verb)
{
	struct lab_errand e = { .verb = verb };
	struct lab_reply r = { .rc = LAB_NO_REPLY };

	lab_tell(p, &e);
	if (p && !p->trial->failed)
		next(p, lab_after_ms(PATIENCE_MS), true, &r);
	return r;
}

void lab_await_waiting(struct lab_party *p)
{
	int64_t deadline = lab_after_ms(PATIENCE_MS);

	while (p && !p->trial->failed && lab_now() < deadline &&
	       !lab_trial_stopped(p->trial)) {
		if (lab_beside(p, LAB_DO_WAITERS).count > 0 || p->replied)
			break;
		lab_nap_ms(2);
	}
	/* Parked in this process; give a foreign one time to be in line. */
	if (p && p->trial->subject->foreign)
		lab_nap_ms(50);
}

/* ---- Coming and going ---------------------------------------------------- */

const struct lab_reply *lab_party_hello(const struct lab_party *p)
{
	return &p->hello;
}

const char *lab_party_label(const struct lab_party *p)
{
	return p->label;
}

static bool greet(struct lab_party *p, int how, uint32_t require)
{
	struct lab_trial *t = p->trial;
	struct lab_hello hello = { .require = require, .parent = getpid() };

	snprintf(hello.uri, sizeof(hello.uri), "%s",
		 how & LAB_JOIN_PROXIED ? t->proxied : t->direct);
	snprintf(hello.command, sizeof(hello.command), "%s",
		 t->subject->command);
	snprintf(hello.dir, sizeof(hello.dir), "%s", t->dir);
	snprintf(hello.label, sizeof(hello.label), "%s", p->label);
	if (send(p->fd, &hello, sizeof(hello), MSG_NOSIGNAL) < 0 ||
	    !receive(p, lab_after_ms(JOIN_MS), &p->hello)) {
		lab_trial_fail(t, "%s did not come up", p->label);
		return false;
	}
	if (p->hello.rc != DLOCK_OK && !(how & LAB_JOIN_MAY_FAIL))
		lab_trial_fail(t, "%s could not open the store: %s", p->label,
			       p->hello.text);
	return p->hello.rc == DLOCK_OK || how & LAB_JOIN_MAY_FAIL;
}

struct lab_party *lab_join_requiring(struct lab_trial *t, const char *label,
				     int how, uint32_t require)
{
	struct lab_party *p;

	if (lab_trial_stopped(t))
		lab_trial_fail(t, "interrupted");
	if (t->failed)
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p) {
		lab_trial_fail(t, "out of memory");
		return NULL;
	}
	p->trial = t;
	p->label = label;
	p->fd = -1;
	p->next = t->parties;
	t->parties = p;
	if (start(p, !t->subject->local || how & LAB_JOIN_ALONE) < 0) {
		lab_trial_fail(t, "%s", lab_errmsg());
		return NULL;
	}
	return greet(p, how, require) ? p : NULL;
}

struct lab_party *lab_join(struct lab_trial *t, const char *label, int how)
{
	return lab_join_requiring(t, label, how, 0);
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

void lab_leave(struct lab_party *p)
{
	struct lab_errand e = { .verb = LAB_DO_QUIT };
	bool hurry;

	if (!p || p->fd < 0)
		return;
	hurry = lab_trial_stopped(p->trial);
	send(p->fd, &e, sizeof(e), MSG_NOSIGNAL);
	if (p->pid) {
		kill(-p->pid, SIGCONT);
		if (hurry || !lab_wait_until(lab_after_ms(LEAVE_MS), reaped, p))
			kill_all(p);
	} else {
		shutdown(p->fd, SHUT_RDWR);
		pthread_join(p->thread, NULL);
	}
	close(p->fd);
	p->fd = -1;
}

void lab_leave_all(struct lab_trial *t)
{
	for (struct lab_party *p = t->parties; p; p = p->next)
		lab_leave(p);
}

void lab_parties_free(struct lab_trial *t)
{
	while (t->parties) {
		struct lab_party *p = t->parties;

		t->parties = p->next;
		free(p);
	}
}

const char *lab_party_of(const struct lab_trial *t, uint32_t tid)
{
	for (const struct lab_party *p = t->parties; p; p = p->next)
		if (p->hello.tid == tid)
			return p->label;
	return NULL;
}
