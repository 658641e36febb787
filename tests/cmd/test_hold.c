/* SPDX-License-Identifier: Apache-2.0 */
/* `dlock hold`, and a lock kept for longer than the command. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(hold, .init = world_begin, .fini = world_end, .timeout = 60);

static struct proc p, holder;
static struct result r;

static unsigned long long token_of(const struct proc *p)
{
	unsigned long long token = 0;
	char end = 0;

	if (sscanf(output(p), "%llu%c", &token, &end) != 2 || end != '\n')
		return 0;
	return token;
}

/* Start `dlock hold OPTION n`, and return the write end of the input. */
static int start_hold(struct proc *p, const char *option)
{
	int fd;

	cr_assert(mkfifo(file_path("in"), 0600) == 0);
	start(p, ARGS("/bin/sh", "-c", "exec \"$0\" hold \"$1\" n <in",
		      getenv("DLOCK_BIN"), option));
	fd = open(file_path("in"), O_WRONLY | O_CLOEXEC);
	cr_assert(fd >= 0);
	unlink(file_path("in"));
	return fd;
}

Test(hold, lasts_until_the_input_ends)
{
	static char much[65536];
	int fd = start_hold(&p, "-x");

	EVENTUALLY(token_of(&p) > 0);
	cr_expect(!is_free("n"));
	/* dlock ignores the content of the input. */
	cr_expect_eq(write(fd, much, sizeof(much)), (ssize_t)sizeof(much));
	cr_expect(!is_free("n"));
	close(fd);
	r = finish(&p);
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	cr_expect_str_empty(r.err);
	cr_expect(is_free("n"));
}

Test(hold, ends_by_a_signal)
{
	static const int ending[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT };

	for (size_t i = 0; i < sizeof(ending) / sizeof(int); i++) {
		struct proc p;
		int fd = start_hold(&p, "-x");

		EVENTUALLY(token_of(&p) > 0);
		kill(p.pid, ending[i]);
		cr_expect_eq(finish(&p).code, -ending[i]);
		cr_expect(is_free("n"));
		close(fd);
	}
}

/* As shells start a command followed by `&`. */
Test(hold, without_an_input_ends_with_its_parent)
{
	start(&p, SH("\"$0\" hold n >token & while ! test -s token; do "
		     "sleep 0.01; done; echo ready; sleep 1000"));
	EVENTUALLY(has_line(output(&p), "ready"));
	cr_expect(!is_free("n"));
	kill(p.pid, SIGKILL);
	finish(&p);
	EVENTUALLY(is_free("n"));
}

Test(hold, without_an_input_ends_by_a_signal)
{
	START(&p, "hold", "n");
	EVENTUALLY(token_of(&p) > 0);
	cr_expect(!is_free("n"));
	cr_expect_eq(stop(&p).code, -SIGTERM);
	cr_expect(is_free("n"));
}

Test(hold, serves_the_middle_of_a_script)
{
	struct result r = run(
		ARGS("/bin/bash", "-c",
		     "coproc LOCK { \"$0\" hold n; }; pid=$LOCK_PID\n"
		     "read -r token <&\"${LOCK[0]}\" || exit 9\n"
		     "\"$0\" run -n n /bin/true; echo \"$? ${token:+token}\"\n"
		     "eval \"exec ${LOCK[1]}>&-\"\n"
		     "wait \"$pid\"; echo $?\n"
		     "\"$0\" run -n n /bin/true; echo $?\n",
		     getenv("DLOCK_BIN")));

	cr_expect_str_eq(r.out, "1 token\n0\n0\n", "%s %s", r.out, r.err);
}

Test(hold, that_is_not_granted_prints_no_token)
{
	HOLD(&holder, "n", NULL);
	r = DLOCK("hold", "-n", "n");
	cr_expect_eq(r.code, 1, "%d %s", r.code, r.err);
	cr_expect_str_empty(r.out);
	r = DLOCK("hold", "-w", "0.05", "-E", "42", "n");
	cr_expect_eq(r.code, 42, "%d %s", r.code, r.err);
	cr_expect_str_empty(r.out);
	stop(&holder);
}

Test(hold, that_is_lost_ends)
{
	int fd = start_hold(&p, "-x");

	EVENTUALLY(token_of(&p) > 0);
	cr_expect_eq(DLOCK("break", "-y", "n").code, 0);
	r = finish(&p);
	expect_says(r, 75, "was lost");
	close(fd);
}

Test(hold, that_is_lost_ends_though_nobody_reads_the_message)
{
	start(&p, ARGS("/bin/sh", "-c", "exec \"$0\" hold n 2>\"$1\"",
		       getenv("DLOCK_BIN"), full_pipe()));
	EVENTUALLY(token_of(&p) > 0);
	cr_expect_eq(DLOCK("break", "-y", "n").code, 0);
	cr_expect_eq(finish(&p).code, 75);
}

/* On a busy machine so short a lease may be lost indeed. */
Test(hold, of_a_short_lease_lasts)
{
	struct result r = { .code = 75 };

	setenv("DLOCK_BACKENDS", module("rehearsal"), 1);
	setenv("DLOCK_URI", "rehearsal:?ttl=60ms", 1);
	for (int64_t end = now_ms() + DEADLINE_MS; r.code && now_ms() < end;)
		r = run(SH("sleep 0.2 | \"$0\" hold n"));
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
}

Test(hold, whose_token_cannot_be_printed_is_released)
{
	struct result r = run(SH("exec \"$0\" hold n >/dev/full"));

	expect_says(r, 74, "No space left");
	cr_expect(is_free("n"));
}

/* A full pipe: nobody reads the token. */
Test(hold, whose_token_nobody_reads_ends_all_the_same)
{
	const char *const stuck[] = {
		"/bin/sh",           "-c",        "exec \"$0\" hold n >\"$1\"",
		getenv("DLOCK_BIN"), full_pipe(), NULL
	};

	start(&p, stuck);
	EVENTUALLY(!is_free("n"));
	cr_expect_eq(stop(&p).code, -SIGTERM);
	start(&p, stuck);
	EVENTUALLY(!is_free("n"));
	cr_expect_eq(DLOCK("break", "-y", "n").code, 0);
	expect_says(finish(&p), 75, "was lost");
	cr_expect(is_free("n"));
}

/* ---- --hold-at-least ----------------------------------------------------- */

Test(hold, at_least_outlasts_the_command)
{
	int64_t began = now_ms(), took;
	int free_early;

	START(&p, "run", "--hold-at-least", "1.5", "n", "--", "/bin/sh", "-c",
	      "echo over; exit 7");
	EVENTUALLY(has_line(output(&p), "over"));
	free_early = is_free("n") && now_ms() - began < 1500;
	cr_expect(!free_early);
	cr_expect_eq(finish(&p).code, 7);
	took = now_ms() - began;
	cr_expect(took >= 1500, "only %d ms", (int)took);
	cr_expect(is_free("n"));
}

Test(hold, at_least_is_no_more_than_that)
{
	struct result r = OK("run", "-v", "--hold-at-least=0.1", "n", "--",
			     "/bin/sleep", "0.2");

	cr_expect_null(strstr(r.err, "for another"), "%s", r.err);
}

/* The command did not run, or did not do the work: the next host may. */
Test(hold, at_least_is_not_for_a_command_that_did_not_run)
{
	int64_t began = now_ms();

	cr_expect_eq(DLOCK("run", "--hold-at-least=1000", "n", "--",
			   "no-such-program")
			     .code,
		     127);
	cr_expect_eq(DLOCK("run", "--hold-at-least=1000", "n", "--", "/bin/sh",
			   "-c", "kill -TERM $$")
			     .code,
		     -SIGTERM);
	cr_expect(now_ms() - began < DEADLINE_MS);
	cr_expect(is_free("n"));
}

Test(hold, at_least_ends_by_a_signal)
{
	START(&p, "run", "-v", "--hold-at-least=1000", "n", "--", "/bin/true");
	await_error(&p, "dlock: holding \"n\" for another ");
	cr_expect(!is_free("n"));
	/* SIGUSR1 has no meaning here. */
	kill(p.pid, SIGUSR1);
	cr_expect(!is_free("n"));
	cr_expect_eq(stop(&p).code, -SIGTERM);
	cr_expect(is_free("n"));
}

Test(hold, at_least_that_is_lost_is_told)
{
	START(&p, "run", "-v", "--hold-at-least=1000", "n", "--", "/bin/true");
	await_error(&p, "dlock: holding \"n\" for another ");
	cr_expect_eq(DLOCK("break", "-y", "n").code, 0);
	r = finish(&p);
	cr_expect_eq(r.code, 75, "%d %s", r.code, r.err);
}
