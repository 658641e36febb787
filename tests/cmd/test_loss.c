/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is lost, or broken, while the command runs. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The store `mem:` under a scheme that the command accepts. */
static void begin(void)
{
	world_begin();
	setenv("DLOCK_BACKENDS", module("rehearsal"), 1);
}

TestSuite(loss, .init = begin, .fini = world_end, .timeout = 120);

static struct proc p;
static struct result r;

static void expect_lost(const struct proc *p, pid_t child)
{
	struct result r = finish(p);

	expect_says(r, 75, "lost");
	cr_expect(!alive(child), "the command is still there");
}

Test(loss, kills_the_whole_group)
{
	pid_t pid;

	START(&p, "run", "-u", "rehearsal:?lose=200ms", "n", "--", "/bin/sh",
	      "-c", "trap '' TERM; sleep 1000 & echo $!; wait");
	cr_expect_eq(finish(&p).code, 75);
	pid = (pid_t)atoi(output(&p));
	cr_assert_gt(pid, 0);
	cr_expect(!alive(pid));
}

Test(loss, kills_a_command_that_is_stopped)
{
	const char *const options[] = { "-u", "rehearsal:?lose=500ms", NULL };
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", options);
	kill(child, SIGSTOP);
	expect_lost(&p, child);
}

Test(loss, comes_with_break)
{
	const char *const label[] = { "--label", "the culprit", NULL };
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", label);
	r = OK("break", "-y", "n");
	cr_expect(has_line(r.err, "dlock: broken: it was held by the culprit "
				  "since 20"),
		  "%s", r.err);
	expect_lost(&p, child);
	cr_expect(is_free("n"));
}

Test(loss, comes_to_nobody_if_nobody_holds_what_is_broken)
{
	struct result r = DLOCK("break", "-y", "n");

	cr_expect_eq(r.code, 1, "%d %s", r.code, r.err);
	cr_expect_str_eq(r.err, "dlock: nobody holds \"n\": nothing was "
				"broken\n");
	cr_expect_eq(DLOCK("run", "n", "/bin/true").code, 0);
	r = DLOCK("break", "-y", "n");
	cr_expect_eq(r.code, 1, "%d %s", r.code, r.err);
}

/* A stopped dlock renews no lease. */
Test(loss, comes_to_a_dlock_that_is_stopped)
{
	const char *const options[] = { "-u", "rehearsal:?ttl=1s", NULL };
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", options);
	kill(p.pid, SIGSTOP);
	EVENTUALLY(!alive(child));
	kill(p.pid, SIGCONT);
	expect_lost(&p, child);
}

#define TERM "signal 15\n"

/* max_hold ends the lease at a known time. */
#define LIMITED "rehearsal:?ttl=8s&max_hold=2500ms"

/* The command has over two seconds to leave after the signal. */
static const char *const unhurried[] = { "-u", "rehearsal:?ttl=16s&max_hold=6s",
					 "--signal-grace", "2.5", NULL };

Test(loss, is_not_survived_by_who_does_not_listen)
{
	const char *const options[] = { "-u", LIMITED, "--signal-grace", "0.3",
					NULL };
	int64_t began = now_ms(), took;
	pid_t child;

	child = start_sigchild(&p, file_path("got"), "stay", "n", options);
	EVENTUALLY(!alive(child));
	took = now_ms() - began;
	cr_expect(took > 2200, "killed after %d ms already", (int)took);
	expect_lost(&p, child);
}

Test(loss, is_announced_by_term_even_to_who_is_stopped)
{
	const char *file = file_path("got");
	pid_t child;

	child = start_sigchild(&p, file, "leave", "n", unhurried);
	kill(child, SIGSTOP);
	r = finish(&p);
	cr_expect_eq(r.code, 75, "%d %s", r.code, r.err);
	cr_expect(has_line(slurp(file), TERM), "%s", slurp(file));
	cr_expect_null(strstr(r.err, "killing"), "%s", r.err);
}

Test(loss, leaves_nobody_of_the_group)
{
	pid_t pid;

	/* The first process obeys TERM, the second ignores TERM. */
	START(&p, "run", "-u", LIMITED, "n", "--", "/bin/sh", "-c",
	      "(trap '' TERM; exec sleep 1000) & echo $!; exec sleep 1000");
	cr_expect_eq(finish(&p).code, 75);
	pid = (pid_t)atoi(output(&p));
	cr_assert_gt(pid, 0);
	cr_expect(!alive(pid));
}

/* ---- --on-loss ----------------------------------------------------------- */

#define ON_LOSS(action, uri)                                                   \
	((const char *const[]){ "-u", uri, "--on-loss", action, NULL })

Test(loss, with_term_is_told_and_no_more)
{
	const char *file = file_path("got");
	pid_t child;

	child = start_sigchild(&p, file, "stay", "n", ON_LOSS("term", LIMITED));
	await_error(&p, "dlock: \"n\" is lost");
	await_line(file, TERM);
	cr_expect(alive(child), "it was killed");
	kill(child, SIGKILL);
	r = finish(&p);
	expect_says(r, 75, "was asked to stop");
}

/* A break is a loss without a warning before. */
Test(loss, with_term_comes_to_what_was_broken)
{
	HOLD(&p, "n", "--on-loss=term");
	cr_expect_eq(DLOCK("break", "-y", "n").code, 0);
	r = finish(&p);
	cr_expect_eq(r.code, 75, "%d %s", r.code, r.err);
	cr_expect_null(strstr(r.err, "killing"), "%s", r.err);
}

Test(loss, with_warn_is_left_to_the_command)
{
	const char *file = file_path("got");
	pid_t child;

	child = start_sigchild(&p, file, "leave", "n",
			       ON_LOSS("warn", LIMITED));
	await_error(&p, "dlock: \"n\" is lost");
	kill(child, SIGUSR1);
	r = finish(&p);
	expect_says(r, 75, "goes on all the same");
	/* The command got the test's signal, and no signal of dlock's. */
	cr_expect_null(strstr(strchr(slurp(file), '\n'), "signal 15"));
}

static pid_t start_and_kill_dlock(const char *action, const char *file)
{
	char option[32];
	const char *const options[] = { option, NULL };
	struct proc p;
	pid_t child;

	snprintf(option, sizeof(option), "--on-loss=%s", action);
	child = start_sigchild(&p, file, "stay", "n", options);
	kill(p.pid, SIGKILL);
	cr_expect_eq(finish(&p).code, -SIGKILL);
	return child;
}

Test(loss, of_dlock_itself_is_no_different)
{
	pid_t child = start_and_kill_dlock("kill", file_path("a"));

	EVENTUALLY(!alive(child));
	child = start_and_kill_dlock("term", file_path("b"));
	await_line(file_path("b"), TERM);
	cr_expect(alive(child));
	kill(child, SIGKILL);
	child = start_and_kill_dlock("warn", file_path("c"));
	kill(child, SIGUSR1);
	EVENTUALLY(strstr(slurp(file_path("c")), "signal"));
	cr_expect_null(strstr(slurp(file_path("c")), TERM));
	cr_expect(alive(child));
	kill(child, SIGKILL);
}

Test(loss, comes_with_term_from_the_guard_of_a_dlock_that_is_stopped)
{
	const char *file = file_path("got");
	pid_t child;

	child = start_sigchild(&p, file, "stay", "n",
			       ON_LOSS("term", "rehearsal:?ttl=1s"));
	kill(p.pid, SIGSTOP);
	await_line(file, TERM);
	cr_expect(alive(child));
	kill(child, SIGKILL);
	kill(p.pid, SIGKILL);
	finish(&p);
}

/* ---- A command that becomes another user --------------------------------- */

#define DLOCK_USER "65534"
#define OTHER_USER "65533"
#define WHO_SLEEPS "echo pid $$; exec sleep 1000"

/* dlock runs as user 65534, with the right to start set-user-ID programs, but
 * must not kill another user's process. */
static pid_t start_other_user(struct proc *p, const char *script)
{
	int pid;

	start(p, ARGS("/usr/bin/setpriv", "--reuid=" DLOCK_USER,
		      "--inh-caps=-all,+setuid", "--ambient-caps=-all,+setuid",
		      "--bounding-set=-all,+setuid", getenv("DLOCK_BIN"), "run",
		      "-u", "rehearsal:?ttl=2s&max_hold=1s", "n", "--",
		      "/bin/sh", "-c", script));
	EVENTUALLY(sscanf(output(p), "pid %d", &pid) == 1);
	return pid;
}

static void expect_honest(const struct proc *p, pid_t other)
{
	struct result r;

	cr_expect(alive(other), "it could be killed all the same");
	kill(other, SIGKILL);
	r = finish(p);
	expect_says(r, 75, "sudo dlock run");
	cr_expect_null(strstr(r.err, "was stopped"), "%s", r.err);
}

Test(loss, of_a_command_that_became_another_user_is_not_called_its_end)
{
	pid_t other;

	needs_other_users();
	other = start_other_user(&p, "exec /usr/bin/setpriv --reuid=" OTHER_USER
				     " /bin/sh -c '" WHO_SLEEPS "'");
	await_error(&p, "dlock: the lease of \"n\" is running out: cannot "
			"stop the command");
	kill(p.pid, SIGTERM);
	await_error(&p, "dlock: the command did not get signal 15");
	expect_honest(&p, other);
}

/* dlock can kill the command, but not the command's child. */
Test(loss, that_leaves_another_user_at_work_is_told_so)
{
	pid_t other;

	needs_other_users();
	other = start_other_user(&p, "/usr/bin/setpriv --reuid=" OTHER_USER
				     " /bin/sh -c '" WHO_SLEEPS "' & wait");
	await_error(&p, "dlock: what the command did");
	expect_honest(&p, other);
}
