/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"
#include "boottime.h"
#include "exits.h"
#include "message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_LOOK_MS 250
#define GROUP_GONE_MS 1000

/* The group, or at least its leader should that have moved elsewhere. */
static void send_group(const struct job *j, int sig)
{
	if (kill(-j->pid, sig) < 0 && errno == ESRCH)
		kill(j->pid, sig);
}

static void resume(struct job *j)
{
	if (terminal_ours(j->terminal))
		terminal_give(j->terminal, j->pid);
	j->stopped = 0;
	send_group(j, SIGCONT);
}

static int wants_terminal(const struct job *j)
{
	return j->stopped == SIGTTIN || j->stopped == SIGTTOU;
}

static void on_stop(struct job *j, int sig)
{
	j->stopped = sig;
	if (wants_terminal(j)) {
		if (terminal_ours(j->terminal))
			resume(j);
		return;
	}
	terminal_take(j->terminal);
	/* dlock must go on, for the lease: the shell will not show a prompt. */
	say("the command is stopped and keeps \"%s\" locked; Ctrl-Z again, or "
	    "SIGCONT to process %d, continues it",
	    j->name, (int)getpid());
}

static void on_end(struct job *j, const siginfo_t *info)
{
	j->ended = 1;
	j->status = info->si_status;
	if (info->si_code != CLD_EXITED) {
		j->status += LEAVE_SIGNAL;
		terminal_take(j->terminal);
		terminal_restore(j->terminal);
	}
	terminal_take(j->terminal);
	/* dlock was stopped for too long, and the guard did its work. */
	if (info->si_code == CLD_KILLED && info->si_status == SIGKILL &&
	    boottime_now() >= j->told)
		j->killed = 1;
	/* While the zombie holds the number, nobody else can be hit. */
	if (j->asked || j->killed)
		kill(-j->pid, SIGKILL);
	guard_tell(j->guard, 0, GUARD_FOREVER);
	waitid(P_PID, (id_t)j->pid, &(siginfo_t){ 0 }, WEXITED);
}

static void look_at_child(struct job *j)
{
	siginfo_t info = { 0 };
	id_t id = (id_t)j->pid;

	if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    info.si_pid) {
		on_end(j, &info);
		return;
	}
	info.si_pid = 0;
	if (waitid(P_PID, id, &info, WSTOPPED | WCONTINUED | WNOHANG) < 0 ||
	    !info.si_pid)
		return;
	if (info.si_code == CLD_STOPPED)
		on_stop(j, info.si_status);
	else
		j->stopped = 0;
}

static void on_signal(struct job *j, int sig)
{
	switch (sig) {
	case SIGCHLD:
		look_at_child(j);
		break;
	case SIGPIPE:
	case SIGTTIN:
	case SIGTTOU:
		break; /* dlock's own affairs */
	case SIGCONT:
		resume(j);
		break;
	case SIGTSTP:
		if (j->stopped)
			resume(j);
		else
			send_group(j, SIGTSTP);
		break;
	default:
		send_group(j, sig);
		if (j->stopped && sigismember(&j->signals->ending, sig))
			resume(j);
	}
}

static void end_it(struct job *j)
{
	if (dlock_check(j->hold) == DLOCK_OK)
		say("the lease of \"%s\" is running out: killing the command",
		    j->name);
	else
		say("\"%s\" was lost: killing the command", j->name);
	kill(-j->pid, SIGKILL);
	kill(j->pid, SIGKILL);
	j->killed = 1;
}

static void ask_it(struct job *j)
{
	say("the lease of \"%s\" is running out: stopping the command",
	    j->name);
	send_group(j, SIGTERM);
	send_group(j, SIGCONT);
	j->asked = 1;
}

int64_t job_limit(const struct job *j)
{
	/* The clock is read first, so this is never later than the lease. */
	int64_t now = boottime_now();
	int64_t left = dlock_remaining_ms(j->hold);

	return left < 0 ? GUARD_FOREVER : now + (left - j->kill_ms / 2) * MS;
}

/* Do what the lease demands; the time until it may demand more, -1 for ever. */
static int64_t obey_lease(struct job *j)
{
	int64_t limit = job_limit(j);
	int64_t left = dlock_remaining_ms(j->hold);

	if (j->killed)
		return -1;
	if (left >= 0 && left <= j->kill_ms) {
		end_it(j);
		return -1;
	}
	if (limit > j->told) {
		guard_tell(j->guard, j->pid, limit);
		j->told = limit;
	}
	if (left < 0)
		return -1;
	if (left > j->grace_ms)
		return left - j->grace_ms;
	if (!j->asked)
		ask_it(j);
	return left - j->kill_ms;
}

static void arm(const struct job *j, int64_t next_ms)
{
	/* Nobody tells when a shell brings its job to the foreground. */
	if (wants_terminal(j) && j->terminal->fd >= 0 &&
	    (next_ms < 0 || next_ms > TERMINAL_LOOK_MS))
		next_ms = TERMINAL_LOOK_MS;
	boottime_arm(j->timer,
		     next_ms < 0 ? INT64_MAX : boottime_now() + next_ms * MS);
}

static void wait_for_group(const struct job *j)
{
	int64_t end = boottime_now() + GROUP_GONE_MS * MS;
	struct timespec pause = { .tv_nsec = MS };

	/* Orphans are reaped by init, and where that sleeps they stay: dead,
	 * but never gone. */
	while (kill(-j->pid, 0) == 0 && boottime_now() < end)
		nanosleep(&pause, NULL);
}

int job_run(struct job *j)
{
	struct pollfd fds[3] = {
		{ .fd = j->signals->fd, .events = POLLIN },
		{ .fd = dlock_hold_fd(j->hold), .events = POLLIN },
		{ .fd = j->timer, .events = POLLIN },
	};
	int sig;

	/* It may have stopped or ended before we listened. */
	look_at_child(j);
	while (!j->ended) {
		arm(j, obey_lease(j));
		if (j->killed)
			fds[1].fd = -1;
		poll(fds, 3, -1);
		while ((sig = signals_next(j->signals)) != 0 && !j->ended)
			on_signal(j, sig);
		if (wants_terminal(j) && terminal_ours(j->terminal))
			resume(j);
	}
	if (!j->asked && !j->killed)
		return j->status;
	wait_for_group(j);
	return fail(LEAVE_LOST,
		    "the command was stopped, because \"%s\" was "
		    "lost or about to be",
		    j->name);
}
