/* SPDX-License-Identifier: Apache-2.0 */
#include "boottime.h"
#include "command.h"
#include "exits.h"
#include "held.h"
#include "message.h"
#include "print.h"
#include "terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define TERMINAL_LOOK_MS 250
#define LOOK_MS 10000

/* The ends of the hold, besides signals and the loss. */
struct leash {
	int input;  /* standard input, or -1 for the null device */
	int parent; /* then: a pidfd of the parent, or -1 */
	struct terminal terminal;
};

/* Whether a descriptor is the null device, as a shell gives it to commands
 * started with `&`. */
static int is_null(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	       st.st_rdev == makedev(1, 3);
}

static void leash_open(struct leash *l)
{
	l->input = STDIN_FILENO;
	l->parent = -1;
	l->terminal.fd = -1;
	if (is_null(STDIN_FILENO)) {
		l->input = -1;
		l->parent = pidfd_open(getppid(), 0);
	} else if (tcgetpgrp(STDIN_FILENO) >= 0) {
		terminal_look(&l->terminal);
	}
}

/* Whether another group has the terminal.  Input typed then is not for us. */
static int in_background(const struct leash *l)
{
	return l->terminal.fd >= 0 && !terminal_ours(&l->terminal);
}

/* Read the input; whether it has ended. */
static int input_ended(const struct leash *l, short revents)
{
	char text[4096];
	ssize_t n;

	if (in_background(l))
		return revents & (POLLHUP | POLLERR | POLLNVAL);
	n = read(l->input, text, sizeof(text));
	if (n < 0 && errno == EIO && l->terminal.fd >= 0)
		return revents & POLLHUP; /* else another group has it by now */
	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* 1: the lock is lost, or about to be.  *next_ms is when to look again. */
static int running_out(const struct held *h, int64_t *next_ms)
{
	int64_t left = dlock_remaining_ms(h->hold);
	int64_t margin_ms = held_margin_ms(dlock_ttl_ms(h->store.client));

	*next_ms = LOOK_MS;
	if (left < 0)
		return 0;
	if (left - margin_ms < *next_ms)
		*next_ms = left - margin_ms;
	return *next_ms <= 0;
}

/* The end came first. */
static int token_left(void)
{
	return fail(LEAVE_OUTPUT, "nobody has read the token: standard output "
				  "had no room for it");
}

static int print_token(const struct held *h)
{
	printf("%" PRIu64 "\n", dlock_token(h->hold));
	return finish_output(LEAVE_OK);
}

/* Print the token as soon as there is room, and stay until the hold is over: 0,
 * 128+n, LEAVE_LOST or LEAVE_OUTPUT. */
static int stay(struct held *h, const struct leash *l)
{
	struct pollfd fds[5] = {
		{ .fd = h->signals.fd, .events = POLLIN },
		{ .fd = dlock_hold_fd(h->hold), .events = POLLIN },
		{ .fd = l->input },
		{ .fd = l->parent, .events = POLLIN },
		{ .fd = STDOUT_FILENO, .events = POLLOUT },
	};
	int64_t next_ms;
	int status;

	while (!running_out(h, &next_ms)) {
		fds[2].events = in_background(l) ? 0 : POLLIN;
		if (in_background(l) && next_ms > TERMINAL_LOOK_MS)
			next_ms = TERMINAL_LOOK_MS;
		if (poll(fds, 5, (int)next_ms) <= 0)
			continue;
		h->end.sig = held_take_signals(h);
		if (h->end.sig)
			return LEAVE_SIGNAL + h->end.sig;
		if (fds[4].revents) {
			status = print_token(h);
			if (status)
				return status;
			fds[4].fd = -1;
		}
		if ((fds[2].revents && input_ended(l, fds[2].revents)) ||
		    fds[3].revents)
			return fds[4].fd < 0 ? 0 : token_left();
	}
	return fail(LEAVE_LOST,
		    "\"%s\" was lost or is about to be: what is done under it "
		    "from now on may clash with another holder",
		    h->name);
}

static int hold_it(struct held *h, const struct leash *l)
{
	int status = dlock_hold_fd(h->hold);

	if (status < 0)
		return fail_dlock(status);
	status = stay(h, l);
	if (status == 0)
		status = held_keep(h, status);
	return status;
}

static int hold_main(const struct command *self, int argc, char **argv)
{
	struct held h = { .began = boottime_now() };
	struct leash leash;
	int status;

	/* First of all: the parent may end at any time. */
	leash_open(&leash);
	if (!options_parse(&h.o, self, argc, argv))
		return h.o.status;
	if (h.o.n_args != 1)
		return fail(LEAVE_USAGE, "dlock hold wants one NAME");
	h.name = h.o.args[0];
	status = held_choose(&h);
	if (status == 0)
		status = held_open(&h);
	if (status == 0)
		status = held_acquire(&h);
	if (h.hold)
		status = held_release(&h, hold_it(&h, &leash));
	return held_close(&h, status);
}

static const enum option_id hold_options[] = {
	OPTION_URI,      OPTION_REQUIRE,   OPTION_WAIT,      OPTION_NONBLOCK,
	OPTION_SHARED,   OPTION_EXCLUSIVE, OPTION_SEMAPHORE, OPTION_CONFLICT,
	OPTION_AT_LEAST, OPTION_LABEL,     OPTION_VERBOSE,   OPTION_BACKEND,
	OPTION_TAKE,     OPTION_END,
};

const struct command cmd_hold = {
	.name = "hold",
	.args = "[-u URI] [-n | -w SEC] [-s | -S PERMITS [--take N]] [-E CODE]"
		"\n         NAME",
	.summary = "hold a lock until standard input ends",
	.text = "Waits for the lock NAME, prints its token on a line of "
		"its own, and holds the\n"
		"lock until standard input ends, or HUP, INT, QUIT or TERM "
		"comes.  If standard\n"
		"input is /dev/null, the end of the parent process takes "
		"its place.  If the lock\n"
		"is lost, dlock ends by itself, with 75: a script sees "
		"that at the end of its\n"
		"output.\n"
		"\n"
		"In a script for bash:\n"
		"\n"
		"  coproc LOCK { dlock hold nightly; }; pid=$LOCK_PID\n"
		"  read -r token <&\"${LOCK[0]}\" || exit\n"
		"  ...\n"
		"  eval \"exec ${LOCK[1]}>&-\"\n"
		"  wait \"$pid\"\n",
	.options = hold_options,
	.main = hold_main,
};
