/* SPDX-License-Identifier: Apache-2.0 */
/* dlock on a terminal: input, interrupts and stops. */
#include "screen.h"
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(terminal, .init = world_begin, .fini = world_end, .timeout = 60);

static struct screen s;
static struct proc p, holder;

#define RUN_SH "run", "n", "--", "/bin/sh", "-c"

Test(terminal, belongs_to_the_command)
{
	start_there(&p, &s,
		    ARGS(NULL, RUN_SH, "echo ready; read x; echo got=$x"));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "hello\n");
	EVENTUALLY(shows(&s, "got=hello"));
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, interrupts_the_command)
{
	start_there(&p, &s, ARGS(NULL, RUN_SH, "echo ready; exec sleep 1000"));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "\003");
	cr_expect_eq(finish(&p).code, -SIGINT);
}

/* The lock is free before the shell sees the end of dlock. */
static void expect_ends_the_script(const char *shell)
{
	start_there(&p, &s,
		    ARGS(shell, "-c",
			 "for i in 1 2 3; do \"$0\" run n -- /bin/sh -c "
			 "'echo \"ready $0.\"; exec sleep 1000' $i; done",
			 getenv("DLOCK_BIN")));
	EVENTUALLY(shows(&s, "ready 1."));
	type(&s, "\003");
	EVENTUALLY(shows(&s, "ready 2.") || !alive(p.pid));
	cr_assert(!shows(&s, "ready 2."), "%s went on", shell);
	cr_expect_eq(finish(&p).code, -SIGINT, "%s", shell);
	cr_expect(is_free("n"));
}

Test(terminal, interrupts_the_script_around_it)
{
	expect_ends_the_script("/bin/sh");
	expect_ends_the_script("/bin/bash");
}

/* A shell with job control leads a process group. */
Test(terminal, interrupts_the_loop_that_was_typed)
{
	start_there(&p, &s, ARGS("/bin/bash", "--norc", "--noediting", "-i"));
	type(&s, "for i in 1 2 3; do $DLOCK_BIN run n -- /bin/sh -c "
		 "'echo \"ready $0.\"; exec sleep 1000' $i; done\n");
	EVENTUALLY(shows(&s, "ready 1."));
	type(&s, "\003");
	type(&s, "echo over $((40 + 2)).\n");
	EVENTUALLY(shows(&s, "over 42."));
	cr_expect(!shows(&s, "ready 2."));
	type(&s, "exit 7\n");
	cr_expect_eq(finish(&p).code, 7);
}

/* An editor that catches Ctrl-C and exits with 0 ends no script. */
Test(terminal, interrupts_no_script_whose_command_took_it)
{
	start_there(&p, &s,
		    ARGS("/bin/bash", "-c",
			 "\"$0\" run n -- /bin/sh -c 'trap \"exit 0\" INT; "
			 "echo ready; while :; do sleep 0.1; done'; exit 7",
			 getenv("DLOCK_BIN")));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "\003");
	cr_expect_eq(finish(&p).code, 7);
}

Test(terminal, interrupts_the_wait)
{
	HOLD(&holder, "n", NULL);
	start_there(&p, &s, ARGS(NULL, "run", "-v", "n", "/bin/true"));
	EVENTUALLY(shows(&s, "waiting for"));
	type(&s, "\032\003"); /* Ctrl-Z does not stop a waiter */
	cr_expect_eq(finish(&p).code, -SIGINT);
	stop(&holder);
}

Test(terminal, is_told_who_holds_the_lock)
{
	HOLD(&holder, "n", "--label", "the holder");
	start_there(&p, &s, ARGS(NULL, RUN_SH, "echo ready"));
	EVENTUALLY(shows(&s, "waiting for \"n\", held by the holder for "));
	stop(&holder);
	EVENTUALLY(shows(&s, "ready"));
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, stops_the_command_and_continues_it)
{
	start_there(&p, &s,
		    ARGS(NULL, RUN_SH, "echo ready; read x; echo got=$x"));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "\032");
	EVENTUALLY(shows(&s, "the command is stopped"));
	cr_expect(!is_free("n"));
	type(&s, "\032");
	type(&s, "hello\n");
	EVENTUALLY(shows(&s, "got=hello"));
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, is_lent_to_a_command_in_a_pipeline_that_asks)
{
	char script[4400];

	/* The output is no terminal: dlock keeps the terminal until the command
	 * needs the terminal. */
	snprintf(script, sizeof(script),
		 "exec >%s; echo ready >&2; read x; "
		 "echo got=$x >&2",
		 file_path("out"));
	start_there(&p, &s,
		    ARGS(NULL, "run", "m", "--", "/bin/sh", "-c",
			 "exec \"$0\" run n -- /bin/sh -c \"$1\" | cat",
			 getenv("DLOCK_BIN"), script));
	EVENTUALLY(shows(&s, "ready"));
	type(&s, "hello\n");
	EVENTUALLY(shows(&s, "got=hello"));
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, is_asked_before_a_lock_is_broken)
{
	pid_t child;

	child = start_sigchild(&holder, file_path("holder"), "stay", "n", NULL);
	start_there(&p, &s, ARGS(NULL, "break", "n"));
	EVENTUALLY(shows(&s, "[y/N]"));
	cr_expect(shows(&s, "held by"));
	type(&s, "\n");
	cr_expect_eq(finish(&p).code, 1);
	cr_expect(alive(child));
	start_there(&p, &s, ARGS(NULL, "break", "n"));
	EVENTUALLY(shows(&s, "[y/N]"));
	type(&s, "y\n");
	cr_expect_eq(finish(&p).code, 0);
	cr_expect_eq(finish(&holder).code, 75);
	cr_expect(!alive(child));
}

/* A yes counts for the holder in the question, not for the next holder. */
Test(terminal, is_not_asked_for_one_holder_and_told_yes_for_another)
{
	struct proc next;
	pid_t child;

	HOLD(&holder, "n", NULL);
	start_there(&p, &s, ARGS(NULL, "break", "n"));
	EVENTUALLY(shows(&s, "[y/N]"));
	stop(&holder);
	child = HOLD(&next, "n", "--label", "the next one");
	type(&s, "y\n");
	cr_expect_eq(finish(&p).code, 1);
	cr_expect(shows(&s, "is held by the next one"), "%s", s.text);
	cr_expect(alive(child));
	start_there(&p, &s, ARGS(NULL, "break", "n"));
	EVENTUALLY(shows(&s, "[y/N]"));
	cr_expect_eq(stop(&next).code, 40 + SIGTERM);
	type(&s, "y\n");
	cr_expect_eq(finish(&p).code, 1);
	cr_expect(shows(&s, "nobody holds"), "%s", s.text);
}

Test(terminal, is_what_a_hold_lasts_for)
{
	start_there(&p, &s, ARGS(NULL, "hold", "n"));
	/* After the token, dlock is no waiter, and Ctrl-Z stops dlock. */
	EVENTUALLY(shows(&s, "\n"));
	cr_expect(!is_free("n"));
	type(&s, "what is typed means nothing\n\032");
	EVENTUALLY(shows(&s, "\"n\" stays held"));
	cr_expect(!is_free("n"));
	type(&s, "\004");
	cr_expect_eq(finish(&p).code, 0);
	cr_expect(is_free("n"));
}

Test(terminal, is_told_that_a_lock_is_kept_after_the_command)
{
	start_there(&p, &s,
		    ARGS(NULL, "run", "-v", "--hold-at-least", "1000", "n",
			 "true"));
	EVENTUALLY(shows(&s, "for another"));
	type(&s, "\032");
	EVENTUALLY(shows(&s, "\"n\" stays held"));
	type(&s, "\003");
	cr_expect_eq(finish(&p).code, -SIGINT);
}

/* Input is for the shell, and does not end the hold. */
Test(terminal, is_not_read_by_a_hold_in_the_background)
{
	start_there(&p, &s, ARGS("/bin/bash", "--norc", "--noediting", "-i"));
	type(&s, "$DLOCK_BIN hold n &\n");
	EVENTUALLY(!is_free("n"));
	/* A foreground command that leaves the input unread. */
	type(&s, "echo ready $((40 + 2)).; sleep 1000\n");
	EVENTUALLY(shows(&s, "ready 42."));
	type(&s, "x=typed\n");
	for (int i = 0; i < 20; i++)
		cr_assert(!is_free("n"));
	type(&s, "\003");
	type(&s, "kill %1; wait %1; exit 7\n");
	cr_expect_eq(finish(&p).code, 7);
	cr_expect(is_free("n"));
}

/* The terminal changes hands between a look at it and the read. */
Test(terminal, that_changes_hands_does_not_end_a_hold)
{
	start_there(&p, &s,
		    ARGS(helper("tossed"), "read", getenv("DLOCK_BIN"), "hold",
			 "n"));
	EVENTUALLY(!is_free("n"));
	type(&s, "\n");
	cr_expect_eq(finish(&p).code, 0);
}

/* A shell that puts the command in the background has the terminal again. */
Test(terminal, is_not_taken_from_the_shell)
{
	int pid;

	start_there(&p, &s, ARGS("/bin/bash", "--norc", "--noediting", "-i"));
	type(&s, "$DLOCK_BIN run n -- /bin/sh -c 'echo $PPID >pid; "
		 "until test -e go; do sleep 0.01; done'\n");
	EVENTUALLY(sscanf(slurp(file_path("pid")), "%d\n", &pid) == 1);
	kill(pid, SIGSTOP);
	EVENTUALLY(shows(&s, "Stopped"));
	type(&s, "bg; echo over $((40 + 2)).\n");
	EVENTUALLY(shows(&s, "over 42."));
	write_file(file_path("go"), "", 0600);
	EVENTUALLY(is_free("n"));
	type(&s, "wait; exit 7\n");
	cr_expect_eq(finish(&p).code, 7);
}

/* Likewise at the moment when dlock has started the command. */
Test(terminal, is_not_taken_from_the_shell_by_a_late_start)
{
	start_there(&p, &s,
		    ARGS(helper("tossed"), "start", getenv("DLOCK_BIN"), "run",
			 "n", "/bin/true"));
	cr_expect_eq(finish(&p).code, 0);
}

/* As ssh and sudo ask for a password, with any descriptors. */
Test(terminal, is_lent_to_a_command_that_opens_it)
{
	start_there(&p, &s,
		    SH("exec \"$0\" run n -- /bin/sh -c 'read x </dev/tty; "
		       "echo got=$x >/dev/tty' </dev/null >/dev/null 2>&1"));
	EVENTUALLY(!is_free("n"));
	type(&s, "hello\n");
	EVENTUALLY(shows(&s, "got=hello"));
	cr_expect_eq(finish(&p).code, 0);
}

/* The neighbour in the pipeline may have changed them, as a pager does. */
Test(terminal, whose_modes_the_command_had_no_hand_in_keeps_them)
{
	start_there(&p, &s,
		    SH("\"$0\" run n -- /bin/sh -c '>ready; until test -e "
		       "go; do sleep 0.01; done; kill -KILL $$' | { "
		       "until test -e ready; do sleep 0.01; done; "
		       "stty -echo </dev/tty; >go; cat; stty -a </dev/tty; }"));
	EVENTUALLY(shows(&s, " echoe "));
	cr_expect(shows(&s, " -echo "), "%s", s.text);
	cr_expect_eq(finish(&p).code, 0);
}

Test(terminal, stays_with_the_pipeline_when_dlock_is_continued)
{
	int pid;

	start_there(&p, &s,
		    SH("\"$0\" run n -- /bin/sh -c 'trap \">winch\" WINCH; "
		       "echo $PPID >pid; until test -e go; do sleep 0.01; "
		       "done' | cat"));
	EVENTUALLY(sscanf(slurp(file_path("pid")), "%d\n", &pid) == 1);
	kill(pid, SIGCONT);
	kill(pid, SIGWINCH);
	EVENTUALLY(access("winch", F_OK) == 0);
	cr_expect_eq(tcgetpgrp(s.fd), p.pid);
	write_file("go", "", 0600);
	cr_expect_eq(finish(&p).code, 0);
}

/* A child of the command writes more than the terminal takes. */
Test(terminal, that_is_full_does_not_keep_the_lock)
{
	const char *file = file_path("pids");
	int writer, leader;

	start_there(&p, &s,
		    ARGS(NULL, RUN_SH,
			 "(exec cat /dev/zero) & echo $! $$ >pids; "
			 "exec sleep 1000"));
	EVENTUALLY(sscanf(slurp(file), "%d %d\n", &writer, &leader) == 2);
	EVENTUALLY(state_of(writer) == 'S');
	kill(leader, SIGKILL);
	cr_expect_eq(finish(&p).code, 128 + SIGKILL);
	cr_expect(is_free("n"));
}
