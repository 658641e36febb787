/* SPDX-License-Identifier: Apache-2.0 */
/* The command's environment, descriptors, signals and arguments. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(child, .init = world_begin, .fini = world_end, .timeout = 60);

Test(child, knows_of_its_lock)
{
	struct result r = OK("run", "a/b", "--", helper("inherited"));
	unsigned long long token;
	char *at;

	cr_expect(has_line(r.out, "env DLOCK_NAME=a/b\n"), "%s", r.out);
	cr_expect(has_line(r.out, "env DLOCK_URI=file:"), "%s", r.out);
	cr_expect(strstr(r.out, lock_dir()), "%s", r.out);
	at = strstr(r.out, "env DLOCK_TOKEN=");
	cr_assert(at && sscanf(at, "env DLOCK_TOKEN=%llu", &token) == 1);
	cr_expect_gt(token, 0);
}

Test(child, never_sees_the_password)
{
	struct result r;

	setenv("DLOCK_PASSWORD", "geheim-4711", 1);
	setenv("DLOCK_TOKEN", "stale", 1);
	r = OK("run", "-vv", "n", "--", helper("inherited"));
	cr_expect_null(strstr(r.out, "geheim-4711"));
	cr_expect_null(strstr(r.err, "geheim-4711"));
	cr_expect_null(strstr(r.out, "stale"));
}

/* Return the lines of `text` that begin with `word`. */
static char *lines(const char *text, const char *word)
{
	char *copy = calloc(1, strlen(text) + 2), *end = copy;

	for (const char *at = text; *at;) {
		size_t n = strcspn(at, "\n") + 1;

		if (!strncmp(at, word, strlen(word)))
			end = mempcpy(end, at, n);
		at += at[n - 1] ? n : n - 1;
	}
	return copy;
}

static void expect_same(const char *direct, const char *under, const char *word)
{
	char *here = lines(under, word), *there = lines(direct, word);

	cr_expect_str_eq(here, there);
	free(here);
	free(there);
}

Test(child, inherits_what_dlock_inherited_and_nothing_else)
{
	struct result direct = run(ARGS(helper("inherited")));
	struct result under = DLOCK("run", "n", "--", helper("inherited"));

	cr_expect_eq(direct.code, 0);
	cr_expect_eq(under.code, 0);
	expect_same(direct.out, under.out, "fd ");
	expect_same(direct.out, under.out, "blocked ");
	expect_same(direct.out, under.out, "ignored ");
	cr_expect(has_line(direct.out, "fd 1\n"));
	cr_expect(has_line(under.out, "leader\n"));
}

Test(child, finds_closed_what_was_closed)
{
	struct result r = run(ARGS("/bin/sh", "-c",
				   "exec \"$0\" run n -- \"$1\" <&- 2>&-",
				   getenv("DLOCK_BIN"), helper("inherited")));

	cr_expect_eq(r.code, 0, "%d", r.code);
	cr_expect(has_line(r.out, "fd 1\n"), "%s", r.out);
	cr_expect(!has_line(r.out, "fd 0\n"), "%s", r.out);
	cr_expect(!has_line(r.out, "fd 2\n"), "%s", r.out);
}

Test(child, reads_and_writes_what_dlock_was_given)
{
	struct result r = run(SH("echo in | \"$0\" run n -- /bin/sh -c "
				 "'cat; echo err >&2' | tr a-z A-Z"));

	cr_expect_eq(r.code, 0);
	cr_expect_str_eq(r.out, "IN\n");
	cr_expect_str_eq(r.err, "err\n");
}

/* As a subreaper, this process would inherit dlock's leftover children. */
Test(child, is_all_that_was_started)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	cr_expect_eq(DLOCK("run", "n", "--", "/bin/true").code, 0);
	cr_expect_eq(DLOCK("run", "n", "--", "no-such-program").code, 127);
	cr_expect_eq(DLOCK("run", "-u", "x:", "n", "/bin/true").code, 64);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1);
	cr_expect_eq(errno, ECHILD);
}

Test(child, gets_its_arguments_as_they_are)
{
	struct result r = DLOCK("run", "n", "--", "/usr/bin/printf", "<%s>",
				"a b", "", "$HOME", "*", "--");

	cr_expect_str_eq(r.out, "<a b><><$HOME><*><-->");
}

Test(child, lives_on_in_the_background_if_it_wants_to)
{
	struct result r = DLOCK("run", "n", "--", "/bin/sh", "-c",
				"sleep 1000 >/dev/null 2>&1 & echo $!");
	pid_t pid = (pid_t)atoi(r.out);

	cr_expect_eq(r.code, 0);
	cr_assert_gt(pid, 0);
	cr_expect(is_free("n"));
	cr_expect(alive(pid));
	kill(pid, SIGKILL);
}

Test(child, may_be_a_shell_line)
{
	struct result r = DLOCK("run", "-c", "echo $0 $#; exit 7", "n");

	cr_expect_eq(r.code, 7, "%d %s", r.code, r.err);
	cr_expect_str_eq(r.out, "/bin/sh 0\n");
	/* The form of flock(1). */
	r = OK("run", "n", "-c", "echo \"$DLOCK_NAME\" | tr n N");
	cr_expect_str_eq(r.out, "N\n");
	r = DLOCK("run", "--command=kill -TERM $$", "n");
	cr_expect_eq(r.code, -SIGTERM, "%d %s", r.code, r.err);
	/* Only dlock takes the option; behind a command -c is an argument. */
	r = DLOCK("run", "n", "--", "/bin/echo", "-c", "x");
	cr_expect_str_eq(r.out, "-c x\n");
}
