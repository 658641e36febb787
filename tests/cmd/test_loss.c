/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is lost, or taken away, while the command runs. */
#include "support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(loss, .init = world_begin, .fini = world_end, .timeout = 120);

static void expect_lost(const struct proc *p, pid_t child)
{
	struct result r = finish(p);

	cr_expect_eq(r.code, 75, "%d %s", r.code, r.err);
	cr_expect(strstr(r.err, "lost"), "%s", r.err);
	cr_expect(!alive(child), "the command is still there");
}

Test(loss, kills_a_command_that_ignores_signals)
{
	const char *const options[] = { "-u", "mem:?lose=200ms", NULL };
	struct proc p;
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", options);
	expect_lost(&p, child);
}

Test(loss, kills_the_whole_group)
{
	struct proc p;
	pid_t pid;

	START(&p, "run", "-u", "mem:?lose=200ms", "n", "--", "/bin/sh", "-c",
	      "trap '' TERM; sleep 1000 & echo $!; wait");
	cr_expect_eq(finish(&p).code, 75);
	pid = (pid_t)atoi(output(&p));
	cr_assert_gt(pid, 0);
	cr_expect(!alive(pid));
}

Test(loss, kills_a_command_that_is_stopped)
{
	const char *const options[] = { "-u", "mem:?lose=500ms", NULL };
	struct proc p;
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", options);
	kill(child, SIGSTOP);
	expect_lost(&p, child);
}

Test(loss, is_noticed_when_the_file_is_removed)
{
	struct dirent *entry;
	struct proc p;
	pid_t child;
	DIR *dir;

	child = start_sigchild(&p, file_path("got"), "stay", "n", NULL);
	dir = opendir(lock_dir());
	cr_assert(dir);
	while ((entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	expect_lost(&p, child);
}

Test(loss, comes_with_break)
{
	struct proc p;
	struct result r;
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", NULL);
	r = DLOCK("break", "-y", "n");
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	expect_lost(&p, child);
	cr_expect_eq(DLOCK("run", "-n", "n", "/bin/true").code, 0);
}

/* Nobody renews the lease of a dlock that is stopped. */
Test(loss, comes_to_a_dlock_that_is_stopped)
{
	const char *const options[] = { "-u", "mem:?ttl=1s", NULL };
	struct proc p;
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", options);
	kill(p.pid, SIGSTOP);
	EVENTUALLY(!alive(child));
	kill(p.pid, SIGCONT);
	expect_lost(&p, child);
}

/* max_hold ends a lease at a time that is known beforehand. */
#define LIMITED "mem:?ttl=8s&max_hold=2500ms"

Test(loss, is_announced_by_term)
{
	const char *const options[] = { "-u", LIMITED, NULL };
	const char *file = file_path("got");
	char term[32];
	struct proc p;
	struct result r;

	snprintf(term, sizeof(term), "signal %d\n", SIGTERM);
	start_sigchild(&p, file, "leave", "n", options);
	r = finish(&p);
	cr_expect_eq(r.code, 75, "%d %s", r.code, r.err);
	cr_expect(has_line(slurp(file), term), "%s", slurp(file));
	cr_expect_null(strstr(r.err, "killing"), "%s", r.err);
}

Test(loss, is_not_survived_by_who_does_not_listen)
{
	const char *const options[] = { "-u", LIMITED, "--signal-grace", "0.3",
					NULL };
	int64_t began = now_ms(), took;
	struct proc p;
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", options);
	EVENTUALLY(!alive(child));
	took = now_ms() - began;
	cr_expect(took > 2200, "killed after %d ms already", (int)took);
	expect_lost(&p, child);
}

Test(loss, is_announced_to_who_is_stopped)
{
	const char *const options[] = { "-u", LIMITED, NULL };
	struct proc p;
	struct result r;
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "leave", "n", options);
	kill(child, SIGSTOP);
	r = finish(&p);
	cr_expect_eq(r.code, 75, "%d %s", r.code, r.err);
	cr_expect_null(strstr(r.err, "killing"), "%s", r.err);
}

Test(loss, leaves_nobody_of_the_group)
{
	struct proc p;
	pid_t pid;

	/* The first obeys TERM, the other does not. */
	START(&p, "run", "-u", LIMITED, "n", "--", "/bin/sh", "-c",
	      "(trap '' TERM; exec sleep 1000) & echo $!; exec sleep 1000");
	cr_expect_eq(finish(&p).code, 75);
	pid = (pid_t)atoi(output(&p));
	cr_assert_gt(pid, 0);
	cr_expect(!alive(pid));
}
