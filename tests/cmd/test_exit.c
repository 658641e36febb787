/* SPDX-License-Identifier: Apache-2.0 */
/* Exit codes of `dlock run`. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

TestSuite(exit_code, .init = world_begin, .fini = world_end, .timeout = 60);

Test(exit_code, is_the_commands_own)
{
	static const int codes[] = { 0, 1, 2, 64, 75, 127, 128, 255 };

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		char script[32];
		struct result r;

		snprintf(script, sizeof(script), "exit %d", codes[i]);
		r = DLOCK("run", "n", "--", "/bin/sh", "-c", script);
		cr_expect_eq(r.code, codes[i], "exit %d became %d: %s",
			     codes[i], r.code, r.err);
		cr_expect_str_empty(r.err);
	}
}

Test(exit_code, of_a_signal_is_128_and_its_number)
{
	static const int signals[] = { SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
				       SIGKILL, SIGABRT, SIGSEGV, SIGUSR1 };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		char script[80];
		struct result r;

		snprintf(script, sizeof(script),
			 "\"$0\" run n -- /bin/sh -c "
			 "'ulimit -c 0; kill -%d $$'; exit $?",
			 signals[i]);
		r = run(SH(script));
		cr_expect_eq(r.code, 128 + signals[i], "signal %d became %d",
			     signals[i], r.code);
	}
}

/* The parent of dlock sees the signal that ended the command. */
Test(exit_code, of_a_signal_that_shells_heed_is_that_signal)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_CORE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_CORE, &limit), 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		char script[48];
		struct proc p;
		int status;

		snprintf(script, sizeof(script), "ulimit -c 0; kill -%d $$",
			 signals[i]);
		START(&p, "run", "n", "--", "/bin/sh", "-c", script);
		cr_assert_eq(waitpid(p.pid, &status, 0), p.pid);
		cr_assert(WIFSIGNALED(status), "%d: %#x", signals[i], status);
		cr_expect_eq(WTERMSIG(status), signals[i]);
		cr_expect(!WCOREDUMP(status), "it left a core of its own");
	}
	/* An exit code stays an exit code. */
	cr_expect_eq(DLOCK("run", "n", "--", "/bin/sh", "-c", "exit 130").code,
		     130);
}

Test(exit_code, needs_no_dashes_before_the_command)
{
	struct result r = DLOCK("run", "n", "/bin/echo", "-n", "--", "-w");

	cr_expect_eq(r.code, 0);
	cr_expect_str_eq(r.out, "-- -w");
}

/* Whichever descriptor is missing: the command runs as it should, or not at
 * all, and the message tells why. */
Test(exit_code, tells_that_there_are_no_descriptors)
{
	enum { STANDARD = 3, PLENTY = 40 };
	int ran = 0;

	for (int n = STANDARD + 1; n < PLENTY; n++) {
		char script[64];
		struct result r;

		snprintf(script, sizeof(script), "ulimit -n %d; exec \"$@\"",
			 n);
		r = run(ARGS("/bin/sh", "-c", script, "sh", getenv("DLOCK_BIN"),
			     "run", "n", "--", "/bin/echo", "ran"));
		/* dlock itself cannot start with so few. */
		if (strstr(r.err, "shared libraries"))
			continue;
		if (r.code == 0) {
			cr_assert_str_eq(r.out, "ran\n");
			ran++;
			continue;
		}
		cr_assert_eq(r.code, 73, "%d: %d", n, r.code);
		cr_assert_str_empty(r.out);
		cr_assert(strstr(r.err, "Too many open files") != NULL,
			  "%d: %s", n, r.err);
	}
	cr_assert_gt(ran, 10);
}

Test(exit_code, of_a_command_that_is_not_found_is_127)
{
	struct result r = DLOCK("run", "n", "--", "no-such-program-here");

	expect_says(r, 127, "no-such-program-here");
	cr_expect(is_free("n"));
}

Test(exit_code, of_a_command_that_cannot_be_run_is_126)
{
	const char *path = file_path("no-program");
	struct result r;

	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	r = DLOCK("run", "n", "--", path);
	expect_says(r, 126, "no-program");
	cr_expect(is_free("n"));
}

Test(exit_code, of_a_busy_lock)
{
	static const struct {
		const char *option, *value;
		int code;
	} cases[] = {
		{ "-n", NULL, 1 },
		{ "--nonblock", NULL, 1 },
		{ "-w", "0", 1 },
		{ "-w", "0.05", 1 },
		{ "-w", "50ms", 1 },
		{ "-w", "0.001m", 1 },
		{ "--nonblocking", NULL, 1 },
		{ "--timeout", ".05", 1 },
		{ "-nE42", NULL, 42 },
		{ "-nE0", NULL, 0 },
		{ "-nE", "255", 255 },
	};
	struct proc p;

	HOLD(&p, "n", NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *argv[8] = { NULL, "run", cases[i].option };
		size_t n = 3;
		struct result r;

		if (cases[i].value)
			argv[n++] = cases[i].value;
		argv[n++] = "n";
		argv[n++] = "/bin/true";
		r = run(argv);
		cr_expect_eq(r.code, cases[i].code, "%s: %d %s",
			     cases[i].option, r.code, r.err);
	}
	cr_expect_eq(stop(&p).code, 40 + SIGTERM);
	cr_expect(is_free("n"));
}

/* dlock keeps trying to reach the store until the wait is over. */
Test(exit_code, of_a_store_out_of_reach_comes_when_the_wait_is_over)
{
	const char *uri = "memcached+unix:///not/here?connect=100ms";
	struct timespec a, b;
	struct result r;

	clock_gettime(CLOCK_MONOTONIC, &a);
	r = DLOCK("run", "-w", "0.7", "-u", uri, "n", "--", "true");
	clock_gettime(CLOCK_MONOTONIC, &b);
	cr_expect_eq(r.code, 69, "%d: %s", r.code, r.err);
	cr_expect_geq((b.tv_sec - a.tv_sec) * 1000 +
			      (b.tv_nsec - a.tv_nsec) / 1000000,
		      690);
}

/* Without a timeout, connect= in the URI limits the open; -n is a try. */
Test(exit_code, of_a_store_out_of_reach_names_the_time_it_had)
{
	const char *uri = "memcached+unix:///not/here?connect=300ms";
	struct result r = DLOCK("run", "-u", uri, "n", "--", "true");

	cr_expect_eq(r.code, 69, "%d: %s", r.code, r.err);
	cr_expect(strstr(r.err, "No such file or directory; tried for 300ms: "
				"connect= in the URI gives it more"),
		  "%s", r.err);
	uri = "memcached+unix:///not/here?connect=10m";
	r = DLOCK("run", "-n", "-u", uri, "n", "--", "true");
	cr_expect_eq(r.code, 69, "%d: %s", r.code, r.err);
	cr_expect(strstr(r.err, "No such file or directory"), "%s", r.err);
}
