/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to dlock, while dlock waits and while the command runs. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(signals, .init = world_begin, .fini = world_end, .timeout = 120);

static struct proc p, holder;

Test(signals, reach_the_command)
{
	static const int forwarded[] = { SIGTERM, SIGINT,  SIGHUP,   SIGQUIT,
					 SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM };

	for (size_t i = 0; i < sizeof(forwarded) / sizeof(int); i++) {
		int sig = forwarded[i];
		struct proc p;

		HOLD(&p, "n", NULL);
		kill(p.pid, sig);
		cr_expect_eq(finish(&p).code, 40 + sig, "signal %d", sig);
	}
}

Test(signals, that_came_many_times_arrive)
{
	const char *file = file_path("got");
	pid_t child;

	child = start_sigchild(&p, file, "stay", "n", NULL);
	for (int sig = SIGRTMIN; sig < SIGRTMIN + 8; sig++)
		kill(p.pid, sig);
	for (int sig = SIGRTMIN; sig < SIGRTMIN + 8; sig++) {
		char line[32];

		snprintf(line, sizeof(line), "signal %d\n", sig);
		await_line(file, line);
	}
	kill(child, SIGKILL);
	cr_expect_eq(finish(&p).code, 128 + SIGKILL);
}

Test(signals, end_the_wait)
{
	static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

	HOLD(&holder, "n", NULL);
	for (size_t i = 0; i < sizeof(ending) / sizeof(int); i++) {
		struct result r;

		START(&p, "run", "-v", "n", "--", "/bin/touch", "ran");
		await_error(&p, "dlock: waiting for");
		kill(p.pid, ending[i]);
		r = finish(&p);
		cr_expect_eq(r.code, -ending[i], "signal %d: %d %s", ending[i],
			     r.code, r.err);
	}
	/* The killed waiters left no entry in the wait queue. */
	cr_expect_eq(stop(&holder).code, 40 + SIGTERM);
	cr_expect_eq(access(file_path("ran"), F_OK), -1);
	cr_expect(is_free("n"));
}

Test(signals, reach_the_whole_group)
{
	int pid;

	START(&p, "run", "n", "--", "/bin/sh", "-c",
	      "sleep 1000 & echo pid $!; wait");
	EVENTUALLY(sscanf(output(&p), "pid %d", &pid) == 1);
	cr_expect_eq(stop(&p).code, -SIGTERM);
	EVENTUALLY(!alive(pid));
}

/* Return whether the signal is still pending. */
static int pending(pid_t pid, int sig)
{
	unsigned long long set = 0;
	char path[64], *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	line = strstr(slurp(path), "ShdPnd:");
	cr_assert(line && sscanf(line, "ShdPnd: %llx", &set) == 1);
	return (int)(set >> (sig - 1) & 1);
}

Test(signals, do_not_stop_a_waiter)
{
	HOLD(&holder, "n", NULL);
	START(&p, "run", "-v", "n", "--", "/bin/true");
	await_error(&p, "dlock: waiting for");
	kill(p.pid, SIGTSTP);
	EVENTUALLY(!pending(p.pid, SIGTSTP));
	stop(&holder);
	cr_expect_eq(finish(&p).code, 0);
}

Test(signals, that_were_ignored_stay_ignored)
{
	struct result r;

	HOLD(&holder, "n", NULL);
	start(&p, ARGS("/usr/bin/env", "--ignore-signal=HUP",
		       getenv("DLOCK_BIN"), "run", "-v", "n", "--", "/bin/sh",
		       "-c", "kill -HUP $$; echo alive"));
	await_error(&p, "dlock: waiting for");
	kill(p.pid, SIGHUP);
	stop(&holder);
	r = finish(&p);
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	cr_expect_str_eq(r.out, "alive\n");
}

Test(signals, of_children_may_be_ignored_by_the_caller)
{
	struct result r = run(ARGS("/usr/bin/env", "--ignore-signal=CHLD",
				   getenv("DLOCK_BIN"), "run", "n", "--",
				   helper("inherited")));
	char ignored[32];

	snprintf(ignored, sizeof(ignored), "ignored %d\n", SIGCHLD);
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	cr_expect(has_line(r.out, ignored), "%s", r.out);
}

Test(signals, stop_and_continue_the_command_and_not_dlock)
{
	int pid;

	START(&p, "run", "n", "--", "/bin/sh", "-c",
	      "echo pid $$; exec sleep 1000");
	EVENTUALLY(sscanf(output(&p), "pid %d", &pid) == 1);
	kill(p.pid, SIGTSTP);
	EVENTUALLY(state_of(pid) == 'T');
	cr_expect(state_of(p.pid) != 'T');
	cr_expect_eq(DLOCK("run", "-n", "n", "/bin/true").code, 1);
	kill(p.pid, SIGCONT);
	EVENTUALLY(state_of(pid) != 'T');
	kill(p.pid, SIGTSTP);
	EVENTUALLY(state_of(pid) == 'T');
	/* SIGTERM also ends a stopped command. */
	cr_expect_eq(stop(&p).code, -SIGTERM);
	cr_expect(is_free("n"));
}

/* dlock's own messages may be more than the limit of a file. */
Test(signals, of_messages_beyond_a_limit_do_not_reach_the_command)
{
	const char *file = file_path("got");
	struct proc p;
	int child;

	start(&p, ARGS("/bin/bash", "-c",
		       "head -c 8192 /dev/zero >full; ulimit -f 8; "
		       "exec \"$0\" run n -- \"$1\" got stay 2>>full",
		       getenv("DLOCK_BIN"), helper("sigchild")));
	await_line(file, "ready ");
	cr_assert(sscanf(slurp(file), "ready %d", &child) == 1);
	kill(child, SIGSTOP);
	EVENTUALLY(state_of(child) == 'T');
	/* dlock says that the command is stopped, and then continues it. */
	kill(p.pid, SIGCONT);
	EVENTUALLY(state_of(child) != 'T');
	kill(p.pid, SIGRTMIN);
	await_line(file, "signal 34");
	cr_expect(!has_line(slurp(file), "signal 25"), "%s", slurp(file));
	kill(child, SIGKILL);
	cr_expect_eq(finish(&p).code, 128 + SIGKILL);
}
