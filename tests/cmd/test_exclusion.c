/* SPDX-License-Identifier: Apache-2.0 */
/* Exclusion between runs, programs, users and kinds. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temp.h"

TestSuite(exclusion, .init = world_begin, .fini = world_end, .timeout = 300);

/* A command under a sanitizer takes some fifty times as long to start. */
#ifdef __SANITIZE_ADDRESS__
#define ROUNDS "20"
#define ALL_ROUNDS "160"
#else
#define ROUNDS "50"
#define ALL_ROUNDS "400"
#endif

/* A single deadline for all processes: a busy machine is slow. */
Test(exclusion, of_eight_processes_that_count, .timeout = 850)
{
	static const char loop[] =
		"i=0; while [ $i -lt " ROUNDS " ]; do i=$((i+1)); "
		"\"$0\" run counter -- \"$1\" \"$2\" || exit; done";
	struct proc workers[8];
	char counter[4200];
	int64_t end = now_ms() + 800000;
	FILE *f;

	snprintf(counter, sizeof(counter), "%s", file_path("counter"));
	f = fopen(counter, "we");
	cr_assert(f && fputs("0", f) >= 0 && fclose(f) == 0);
	for (int i = 0; i < 8; i++)
		start(&workers[i],
		      ARGS("/bin/sh", "-c", loop, getenv("DLOCK_BIN"),
			   helper("increment"), counter));
	for (int i = 0; i < 8; i++) {
		int64_t left = end - now_ms();
		struct result r = finish_within(&workers[i],
						left > 1000 ? left : 1000);

		cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	}
	cr_expect_str_eq(slurp(counter), ALL_ROUNDS);
}

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
	char file[64];
	struct proc p;
	static int turn;

	snprintf(file, sizeof(file), "held.%d", turn++);
	start_sigchild(&p, file_path(file), "leave", "n", held);
	cr_expect_eq(busy(asked), code, "held %s, asked %s",
		     held[0] ? held[0] : "plain",
		     asked[0] ? asked[0] : "plain");
	cr_expect_eq(stop(&p).code, 40 + SIGTERM);
}

#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NONE ((const char *const[]){ NULL })

Test(exclusion, of_plain_and_shared_runs_is_as_with_flock)
{
	expect_meet(NONE, NONE, 1);
	expect_meet(NONE, OPTIONS("-s"), 1);
	expect_meet(NONE, OPTIONS("-x"), 1);
	expect_meet(OPTIONS("-s"), OPTIONS("-x"), 1);
	expect_meet(OPTIONS("-s"), OPTIONS("--shared"), 0);
}

Test(exclusion, is_none_between_a_lock_and_a_semaphore)
{
	expect_meet(NONE, OPTIONS("-S", "1"), 0);
	expect_meet(OPTIONS("-S", "1"), OPTIONS("-s"), 0);
	expect_meet(OPTIONS("-S", "1"), OPTIONS("-S", "1"), 1);
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
	cr_expect_eq(busy(OPTIONS("-s")), 1);
	cr_expect_eq(busy(OPTIONS("-S", "1")), 0);
	cr_assert_eq(dlock_release(hold), 0);
	cr_expect_eq(busy(NONE), 0);
	dlock_lock_free(lock);
	dlock_close(client);
}

#define AS(user, ...)                                                          \
	ARGS("/usr/bin/setpriv", "--reuid=" user, "--regid=" user,             \
	     "--clear-groups", getenv("DLOCK_BIN"), __VA_ARGS__)

/* As in /var/lock: the first user leaves the lock file to the others. */
Test(exclusion, of_the_users_of_a_sticky_directory)
{
	char dir[] = "/tmp/dlock-cmd-XXXXXX", uri[64], said[64];
	struct proc p;

	needs_other_users();
	cr_assert(mkdtemp(dir) && chmod(dir, 01777) == 0);
	snprintf(uri, sizeof(uri), "file://%s?share=all", dir);
	snprintf(said, sizeof(said), "%s/said", dir);
	start(&p, AS("61001", "run", "-u", uri, "n", "--", helper("sigchild"),
		     said, "leave"));
	await_line(said, "ready ");
	cr_expect_eq(run(AS("61002", "run", "-n", "-u", uri, "n", "true")).code,
		     1);
	cr_expect_eq(DLOCK("run", "-n", "-u", uri, "n", "true").code, 1);
	kill(p.pid, SIGKILL);
	cr_expect_eq(finish(&p).code, -SIGKILL);
	cr_expect_eq(run(AS("61002", "run", "-u", uri, "n", "true")).code, 0);
	cr_expect_eq(DLOCK("run", "-u", uri, "n", "true").code, 0);
	temp_remove(dir);
}

Test(exclusion, by_a_semaphore_counts)
{
	struct proc a, b;

	start_sigchild(&a, file_path("a"), "leave", "n", OPTIONS("-S", "2"));
	cr_expect_eq(busy(OPTIONS("-S", "2")), 0);
	start_sigchild(&b, file_path("b"), "leave", "n", OPTIONS("-S2"));
	cr_expect_eq(busy(OPTIONS("-S", "2")), 1);
	cr_expect_eq(stop(&a).code, 40 + SIGTERM);
	cr_expect_eq(busy(OPTIONS("--semaphore=2")), 0);
	stop(&b);
}

/* Kill a holder, and return how long the next run waits. */
static int64_t killed_holder(const char *file)
{
	int64_t killed, took;
	struct proc p, next;
	pid_t child;

	child = start_sigchild(&p, file_path(file), "stay", "n", NULL);
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
	static const char *const files[] = { "a", "b", "c" };
	int64_t took = 1000;

	for (int i = 0; i < 3 && took >= 1000; i++)
		took = killed_holder(files[i]);
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
