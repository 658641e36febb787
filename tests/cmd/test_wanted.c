/* SPDX-License-Identifier: Apache-2.0 */
/* Other clients want the lock of a running command. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(wanted, .init = world_begin, .fini = world_end, .timeout = 120);

static struct proc p;
static struct result r;

static pid_t start_with(struct proc *p, const char *action)
{
	const char *const options[] = { "--on-wanted", action, NULL };

	return start_sigchild(p, file_path("got"), "leave", "n", options);
}

Test(wanted, ends_the_command_by_a_revoke)
{
	start_with(&p, "term");
	r = DLOCK("revoke", "n");
	expect_says(r, 0, "asked for: it is held by");
	r = finish(&p);
	cr_expect_eq(r.code, 40 + SIGTERM, "%d", r.code);
	cr_expect(strstr(r.err, "others want \"n\""), "%s", r.err);
	await_line(file_path("got"), "signal 15");
	cr_expect_eq(DLOCK("run", "-n", "n", "--", "true").code, 0);
}

/* Holders of permits do not give up for a waiter. */
Test(wanted, ends_all_commands_with_a_permit_by_a_revoke)
{
	const char *const options[] = { "-S", "2", "--on-wanted", "term",
					NULL };
	const char *const files[] = { "one", "two" };
	struct proc p[2];
	pid_t child[2];

	for (int i = 0; i < 2; i++)
		child[i] = start_sigchild(&p[i], file_path(files[i]), "leave",
					  "n", options);
	cr_expect_eq(DLOCK("run", "-n", "-S", "2", "n", "--", "true").code, 1);
	r = DLOCK("revoke", "n");
	expect_says(r, 1, "nobody was asked; the semaphore");
	for (int i = 0; i < 2; i++)
		cr_expect(alive(child[i]));
	r = DLOCK("revoke", "-S", "2", "n");
	cr_expect_eq(r.code, 0, "%s", r.err);
	for (int i = 0; i < 2; i++) {
		r = finish(&p[i]);
		cr_expect_eq(r.code, 40 + SIGTERM, "%d", r.code);
		await_line(file_path(files[i]), "signal 15");
	}
}

Test(wanted, ends_the_command_by_a_waiter)
{
	start_with(&p, "term");
	cr_expect_eq(DLOCK("run", "-w", "15", "n", "--", "true").code, 0);
	r = finish(&p);
	cr_expect(strstr(r.err, "others want \"n\""), "%s", r.err);
}

Test(wanted, ends_the_command_though_nobody_reads_the_message)
{
	struct proc p;

	start(&p, ARGS("/bin/sh", "-c",
		       "exec \"$0\" run --on-wanted=term n -- \"$1\" got leave "
		       "2>\"$2\"",
		       getenv("DLOCK_BIN"), helper("sigchild"), full_pipe()));
	await_line(file_path("got"), "ready ");
	cr_expect_eq(DLOCK("revoke", "n").code, 0);
	await_line(file_path("got"), "signal 15");
	cr_expect_eq(finish(&p).code, 40 + SIGTERM);
	cr_expect(is_free("n"));
}

Test(wanted, is_ignored_by_default)
{
	pid_t child = start_with(&p, "ignore");

	cr_expect_eq(DLOCK("revoke", "n").code, 0);
	cr_expect_eq(DLOCK("run", "-n", "n", "--", "true").code, 1);
	cr_expect(alive(child));
	kill(child, SIGTERM);
	r = finish(&p);
	cr_expect_eq(strstr(r.err, "others want"), NULL, "%s", r.err);
}

Test(wanted, by_nobody_is_said)
{
	expect_says(DLOCK("revoke", "n"), 1, "nobody holds \"n\"");
}

Test(wanted, needs_the_write_side)
{
	expect_says(DLOCK("run", "-s", "--on-wanted", "term", "n", "true"), 78,
		    "write side");
}
