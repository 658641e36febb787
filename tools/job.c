/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"
#include "boottime.h"
#include "exits.h"
#include "held.h"
#include "message.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TERMINAL_LOOK_MS 250
#define GROUP_GONE_MS 1000
#define AGAIN_MS 1000 /* until the next try to kill a process out of reach */

#define BEYOND                                                                 \
	"it runs as another user; run dlock as that user: `sudo dlock run`, "  \
	"not `dlock run sudo`"

/* Signal the group, or at least the leader if it has moved elsewhere. */
static void send_group(const struct job *j, int sig)
{
	if (kill(-j->pid, sig) < 0 && errno == ESRCH)
		kill(j->pid, sig);
}

/* Whether the leader is another user's.  kill(2) of the group succeeds if it
 * reaches any process. */
static int out_of_reach(const struct job *j)
{
	return kill(j->pid, 0) < 0 && errno == EPERM;
}

static int64_t clamp(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

static int wants_terminal(const struct job *j)
{
	return j->stopped == SIGTTIN || j->stopped == SIGTTOU;
}

static void resume(struct job *j)
{
	if (j->terminal->eager || wants_terminal(j))
		terminal_give(j->terminal, getpgrp(), j->pid);
	j->stopped = 0;
	send_group(j, SIGCONT);
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
		j->end.sig = info->si_status;
		j->end.missed = terminal_lent(j->terminal, j->pid) &&
				(j->end.sig == SIGINT || j->end.sig == SIGQUIT);
	}
	terminal_take(j->terminal);
	if (j->end.sig)
		terminal_restore(j->terminal);
	/* dlock was stopped for too long, and the guard killed the group. */
	if (j->on_loss == ON_LOSS_KILL && info->si_code == CLD_KILLED &&
	    info->si_status == SIGKILL && boottime_now() >= j->told)
		j->killed = 1;
	/* While the zombie holds the number, no other group can be hit. */
	if (j->on_loss == ON_LOSS_KILL && (j->asked || j->killed))
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
	case SIGXFSZ:
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
		/* The command may have stopped, with SIGCHLD still to come. */
		look_at_child(j);
		if (j->ended)
			break;
		send_group(j, sig);
		if (out_of_reach(j))
			say("the command did not get signal %d: " BEYOND, sig);
		if (j->stopped && sigismember(&j->signals->ending, sig))
			resume(j);
	}
}

static void tell(const struct job *j, const char *what)
{
	if (j->beyond)
		what = "cannot stop the command, " BEYOND;
	if (dlock_check(j->hold) == DLOCK_OK)
		say("the lease of \"%s\" is running out: %s", j->name, what);
	else
		say("\"%s\" was lost: %s", j->name, what);
}

static void kill_it(struct job *j)
{
	kill(-j->pid, SIGKILL);
	kill(j->pid, SIGKILL);
	j->beyond = out_of_reach(j);
}

static void end_it(struct job *j)
{
	kill_it(j);
	tell(j, "killing the command");
	j->killed = 1;
}

static void ask_it(struct job *j)
{
	send_group(j, SIGTERM);
	send_group(j, SIGCONT);
	j->beyond = out_of_reach(j);
	tell(j, "stopping the command");
	j->asked = 1;
}

/* Act once, with --on-loss=term or warn. */
static int64_t obey_gently(struct job *j, int64_t left, int64_t grace_ms)
{
	int term = j->on_loss == ON_LOSS_TERM;
	int64_t due_ms = term ? grace_ms : j->kill_ms;

	if (left < 0 || j->asked || j->warned)
		return -1;
	if (left > due_ms)
		return left - due_ms;
	if (term)
		ask_it(j);
	else
		tell(j, "the command goes on all the same");
	j->warned = !term;
	return -1;
}

static void measure(struct job *j, int64_t left_ms)
{
	/* The first lease may be short, and `max_hold` end it long before the
	 * ttl. */
	if (left_ms <= j->lease_ms)
		return;
	j->lease_ms = left_ms;
	j->kill_ms = held_margin_ms(left_ms);
}

int64_t job_limit(struct job *j)
{
	/* The clock is read first, so this is never later than the lease. */
	int64_t now = boottime_now();
	int64_t left = dlock_remaining_ms(j->hold);

	measure(j, left);
	return left < 0 ? GUARD_FOREVER : now + (left - j->kill_ms / 2) * MS;
}

int64_t job_grace_ms(const struct job *j)
{
	int64_t most_ms = dlock_warning_ms(j->hold);
	int64_t grace_ms = j->grace_ms;

	if (grace_ms < 0)
		grace_ms = clamp(j->lease_ms / 4, 0, 5000);
	if (most_ms > j->lease_ms / 2)
		most_ms = j->lease_ms / 2;
	return clamp(clamp(grace_ms, 0, most_ms), j->kill_ms, j->lease_ms);
}

/* Act on the lease; returns the time until the next act, -1 for ever. */
static int64_t obey_lease(struct job *j)
{
	int64_t limit = job_limit(j);
	/* Read before the time left: a newer lease has more left. */
	int64_t grace_ms = job_grace_ms(j);
	int64_t left = dlock_remaining_ms(j->hold);

	if (j->killed) {
		if (j->beyond)
			kill_it(j);
		return j->beyond ? AGAIN_MS : -1;
	}
	if (j->on_loss == ON_LOSS_KILL && left >= 0 && left <= j->kill_ms) {
		end_it(j);
		return j->beyond ? AGAIN_MS : -1;
	}
	if (limit > j->told) {
		guard_tell(j->guard, j->pid, limit);
		j->told = limit;
	}
	if (j->on_loss != ON_LOSS_KILL)
		return obey_gently(j, left, grace_ms);
	if (left < 0)
		return -1;
	if (left > grace_ms && !j->asked)
		return left - grace_ms;
	if (!j->asked)
		ask_it(j);
	return left - j->kill_ms;
}

/* Have the command end of its own accord: others want the lock. */
static void make_way(struct job *j)
{
	look_at_child(j);
	if (j->ended || j->asked || j->killed)
		return;
	send_group(j, SIGTERM);
	send_group(j, SIGCONT);
	say("others want \"%s\": asking the command to end", j->name);
}

static void arm(const struct job *j, int64_t next_ms)
{
	/* No signal tells when a shell brings the job to the foreground. */
	if (wants_terminal(j) && j->terminal->fd >= 0 &&
	    (next_ms < 0 || next_ms > TERMINAL_LOOK_MS))
		next_ms = TERMINAL_LOOK_MS;
	boottime_arm(j->timer,
		     next_ms < 0 ? INT64_MAX : boottime_now() + next_ms * MS);
}

/* Wait until the group is gone; 0 if a process of another user is left. */
static int wait_for_group(const struct job *j)
{
	int64_t end = boottime_now() + GROUP_GONE_MS * MS;
	struct timespec pause = { .tv_nsec = MS };

	/* init reaps orphans; if init sleeps, they stay: dead, but never
	 * gone. */
	while (kill(-j->pid, 0) == 0 || errno == EPERM) {
		if (boottime_now() >= end)
			return kill(-j->pid, 0) == 0 || errno != EPERM;
		nanosleep(&pause, NULL);
	}
	return 1;
}

/* Whether --on-loss has been applied to the loss. */
static int obeyed(const struct job *j)
{
	return j->killed || j->warned ||
	       (j->asked && j->on_loss == ON_LOSS_TERM);
}

int job_run(struct job *j)
{
	struct pollfd fds[4] = {
		{ .fd = j->signals->fd, .events = POLLIN },
		{ .fd = dlock_hold_fd(j->hold), .events = POLLIN },
		{ .fd = j->timer, .events = POLLIN },
		{ .fd = j->wanted_fd, .events = POLLIN },
	};
	int sig;

	/* The command may have stopped or ended before we listened. */
	look_at_child(j);
	while (!j->ended) {
		arm(j, obey_lease(j));
		/* The descriptor stays readable with no more to do. */
		if (obeyed(j))
			fds[1].fd = -1;
		if (poll(fds, 4, -1) > 0 && fds[3].revents) {
			make_way(j);
			fds[3].fd = -1;
		}
		while ((sig = signals_next(j->signals)) != 0 && !j->ended)
			on_signal(j, sig);
		if (wants_terminal(j) && terminal_ours(j->terminal))
			resume(j);
	}
	if (!j->asked && !j->killed)
		return j->status;
	if (j->on_loss == ON_LOSS_TERM && !j->beyond)
		return fail(LEAVE_LOST,
			    "the command was asked to stop, because \"%s\" was "
			    "lost or about to be",
			    j->name);
	if (j->beyond || !wait_for_group(j))
		return fail(LEAVE_LOST,
			    "what the command did after \"%s\" was lost may "
			    "clash with another holder: " BEYOND,
			    j->name);
	return fail(LEAVE_LOST,
		    "the command was stopped, because \"%s\" was "
		    "lost or about to be",
		    j->name);
}
