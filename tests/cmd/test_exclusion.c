/* SPDX-License-Identifier: Apache-2.0 */
/* Exclusion between runs, programs and kinds. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(exclusion, .init = world_begin, .fini = world_end, .timeout = 300);

/* Try "n" with `options`, and return the exit status. */
static int busy(const char *const options[])
{
	const char *argv[8] = { NULL, "run", "-n" };
	size_t n = 3;

	while (*options)
		argv[n++] = *options++;
	argv[n++] = "n";
	argv[n++] = "/bin/true";
	return run(argv).code;
}

static void expect_meet(const char *const held[], const char *const asked[],
			int code)
{
	struct proc p;

	start_sigchild(&p, new_file(), "leave", "n", held);
	cr_expect_eq(busy(asked), code, "held %s, asked %s",
		     held[0] ? held[0] : "plain",
		     asked[0] ? asked[0] : "plain");
	cr_expect_eq(stop(&p).code, 40 + SIGTERM);
}

#define NONE ARGS(NULL)

Test(exclusion, of_plain_and_shared_runs_is_as_with_flock)
{
	expect_meet(NONE, NONE, 1);
	expect_meet(NONE, ARGS("-s"), 1);
	expect_meet(NONE, ARGS("-x"), 1);
	expect_meet(ARGS("-s"), ARGS("-x"), 1);
	expect_meet(ARGS("-s"), ARGS("--shared"), 0);
}

Test(exclusion, is_none_between_a_lock_and_a_semaphore)
{
	expect_meet(NONE, ARGS("-S", "1"), 0);
	expect_meet(ARGS("-S", "1"), ARGS("-s"), 0);
	expect_meet(ARGS("-S1"), ARGS("--semaphore=1"), 1);
}

/* The lock of dlock_mutex_new(). */
Test(exclusion, is_one_between_a_run_and_a_program)
{
	dlock_client *client = NULL;
	dlock_hold *hold = NULL;
	dlock_lock *lock = NULL;

	cr_assert_eq(dlock_open(&client, getenv("DLOCK_URI"), NULL), 0);
	cr_assert_eq(dlock_mutex_new(&lock, client, "n"), 0);
	cr_assert_eq(dlock_acquire(lock, 0, &hold), 0);
	cr_expect_eq(busy(NONE), 1);
	cr_expect_eq(busy(ARGS("-s")), 1);
	cr_expect_eq(busy(ARGS("-S", "1")), 0);
	cr_assert_eq(dlock_release(hold), 0);
	cr_expect_eq(busy(NONE), 0);
	dlock_lock_free(lock);
	dlock_close(client);
}

/* Kill a holder, and return how long the next run waits. */
static int64_t killed_holder(void)
{
	int64_t killed, took;
	struct proc p, next;
	pid_t child;

	child = start_sigchild(&p, new_file(), "stay", "n", NULL);
	/* The next run waits before the kill. */
	START(&next, "run", "-v", "n", "--", "/bin/true");
	await_error(&next, "dlock: waiting for");
	killed = now_ms();
	kill(p.pid, SIGKILL);
	cr_expect_eq(finish(&next).code, 0);
	took = now_ms() - killed;
	EVENTUALLY(!alive(child));
	cr_expect_eq(finish(&p).code, -SIGKILL);
	return took;
}

/* Of three times, a single quick end is enough: the machine may be busy. */
Test(exclusion, ends_when_dlock_is_killed_and_so_does_the_command)
{
	int64_t took = 1000;

	for (int i = 0; i < 3 && took >= 1000; i++)
		took = killed_holder();
	cr_expect(took < 1000, "the next one waited %d ms", (int)took);
}

/* A shell does not replace itself with the last of several commands. */
Test(exclusion, ends_for_what_the_command_started_too)
{
	char script[4400];
	struct proc p;
	int pid;

	snprintf(script, sizeof(script), "sleep 1000 & echo pid $! >%s; wait",
		 file_path("sleeper"));
	START(&p, "run", "n", "--", "/bin/sh", "-c", script);
	await_line(file_path("sleeper"), "pid ");
	cr_assert(sscanf(slurp(file_path("sleeper")), "pid %d", &pid) == 1);
	cr_expect(alive(pid));
	kill(p.pid, SIGKILL);
	EVENTUALLY(!alive(pid));
	finish(&p);
}

/* The first child of dlock is the guard. */
static pid_t guard_of(pid_t dlock)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)dlock,
		 (int)dlock);
	return (pid_t)atoi(slurp(path));
}

Test(exclusion, ends_also_without_the_guard)
{
	struct proc p;
	pid_t child, guard;

	child = start_sigchild(&p, file_path("a"), "stay", "n", NULL);
	guard = guard_of(p.pid);
	cr_assert(guard > 0 && guard != child);
	kill(guard, SIGKILL);
	EVENTUALLY(!alive(guard));
	cr_expect(alive(child), "it is dlock that must be gone");
	kill(p.pid, SIGKILL);
	EVENTUALLY(!alive(child));
	finish(&p);
}
