/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"
#include "boottime.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct order { /* no padding: sent as it is */
	int64_t deadline;
	int64_t pgid;
};

/* Returns when dlock is gone or the time is over; the group to kill. */
static pid_t keep_watch(int fd, int timer)
{
	struct order order = { GUARD_FOREVER, 0 };
	struct pollfd fds[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = timer, .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0)
			continue;
		/* The last order of dlock counts more than the clock. */
		if (fds[0].revents) {
			struct order next;

			if (read(fd, &next, sizeof(next)) != sizeof(next))
				return (pid_t)order.pgid;
			order = next;
			boottime_arm(timer, order.deadline);
		} else if (fds[1].revents) {
			return (pid_t)order.pgid;
		}
	}
}

static void signal_group(pid_t pgid, enum on_loss on_loss)
{
	switch (on_loss) {
	case ON_LOSS_KILL:
		kill(-pgid, SIGKILL);
		break;
	case ON_LOSS_TERM:
		kill(-pgid, SIGTERM);
		kill(-pgid, SIGCONT);
		break;
	case ON_LOSS_WARN:
		break;
	}
}

/* Both are above 3: other descriptors were there when they were made. */
static void __attribute__((noreturn))
guard(int fd, int timer, enum on_loss on_loss)
{
	sigset_t all;
	pid_t pgid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* Keep signals to dlock's group from the guard, and close dlock's
	 * standard output. */
	setsid();
	prctl(PR_SET_NAME, "dlock-guard");
	if (fd != 3)
		dup2(fd, 3);
	if (timer != 4)
		dup2(timer, 4);
	close_range(0, 2, 0);
	close_range(5, ~0u, 0);
	pgid = keep_watch(3, 4);
	if (pgid > 0)
		signal_group(pgid, on_loss);
	_exit(0);
}

int guard_start(struct guard *g, enum on_loss on_loss)
{
	int ends[2];
	int timer;
	pid_t pid;

	g->fd = -1;
	/* A packet is sent whole or not at all; MSG_NOSIGNAL applies. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -1;
	timer = boottime_open();
	if (timer < 0) {
		close(ends[0]);
		close(ends[1]);
		return -1;
	}
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		guard(ends[1], timer, on_loss);
	}
	close(timer);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -1;
	}
	g->fd = ends[0];
	g->pid = pid;
	return 0;
}

void guard_tell(const struct guard *g, pid_t pgid, int64_t deadline)
{
	struct order order = { deadline, pgid };

	/* The guard may have been killed; the lock is as good without a guard.
	 * Or the guard may be stopped: do not wait for room for the order, as
	 * the next order replaces it. */
	while (send(g->fd, &order, sizeof(order), MSG_NOSIGNAL | MSG_DONTWAIT) <
		       0 &&
	       errno == EINTR)
		;
}

void guard_stop(struct guard *g)
{
	if (g->fd < 0)
		return;
	/* Kill before the descriptor is closed, which the guard would take for
	 * our end.  And reap: not every container has an init that does. */
	kill(g->pid, SIGKILL);
	while (waitpid(g->pid, NULL, 0) < 0 && errno == EINTR)
		;
	close(g->fd);
	g->fd = -1;
}
