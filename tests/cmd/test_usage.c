/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes on the command line, and help. */
#include "support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

TestSuite(usage, .init = world_begin, .fini = world_end, .timeout = 60);

Test(usage, mistakes_are_named)
{
	static const struct {
		const char *args[8];
		const char *says;
	} cases[] = {
		{ { "runn", "n", "true" }, "did you mean `dlock run`" },
		{ { "frobnicate" }, "`dlock help` lists them" },
		{ { "-n", "run" }, "command comes first" },
		{ { "run" }, "which lock?" },
		{ { "run", "n" }, "run what under the lock \"n\"" },
		{ { "run", "n", "--" }, "run what under the lock \"n\"" },
		{ { "run", "--", "n" }, "run what under the lock \"n\"" },
		{ { "run", "n", "" }, "empty" },
		{ { "run", "n", "-w", "3", "true" }, "needs -- before it" },
		{ { "run", "-w", "x", "n", "true" }, "not \"x\"" },
		{ { "run", "-w", "-1", "n", "true" }, "not \"-1\"" },
		{ { "run", "-w", "1e3", "n", "true" }, "not \"1e3\"" },
		{ { "run", "-w", "nan", "n", "true" }, "not \"nan\"" },
		{ { "run", "-w", "5us", "n", "true" }, "not \"5us\"" },
		{ { "run", "-w", "ms", "n", "true" }, "not \"ms\"" },
		{ { "run", "-w", "1.2.3", "n", "true" }, "not \"1.2.3\"" },
		{ { "run", "-w", ".", "n", "true" }, "not \".\"" },
		{ { "run", "-w", "", "n", "true" }, "not \"\"" },
		{ { "run", "-w", "99999999999999999999", "n", "true" },
		  "number of seconds" },
		{ { "run", "-n", "-w", "3", "n", "true" }, "choose one" },
		{ { "run", "-w" }, "-w wants an argument" },
		{ { "run", "--wait" }, "--wait wants an argument" },
		{ { "run", "-s", "-x", "n", "true" }, "together" },
		{ { "run", "-S", "2", "-s", "n", "true" }, "together" },
		{ { "run", "-S", "0", "n", "true" }, "permits" },
		{ { "run", "-S", "4294967296", "n", "true" }, "permits" },
		{ { "run", "-S", "-1", "n", "true" }, "permits" },
		{ { "run", "-E", "256", "n", "true" }, "0 to 255" },
		{ { "run", "-E", "x", "n", "true" }, "0 to 255" },
		{ { "run", "--signal-grace=soon", "n", "true" }, "\"soon\"" },
		{ { "run", "-k", "n", "true" }, "no option -k" },
		{ { "run", "-m", "n", "true" }, "no option -m" },
		{ { "run", "-c", "true" }, "which lock?" },
		{ { "run", "-c", "", "n" }, "shell line of -c is empty" },
		{ { "run", "-c", "true", "n", "more" }, "-c has said" },
		{ { "run", "n", "-c" }, "wants one shell line" },
		{ { "run", "n", "-c", "echo", "a" }, "wants one shell line" },
		{ { "run", "n", "-c", "" }, "shell line of -c is empty" },
		{ { "run", "--on-loss", "pray", "n", "true" }, "not \"pray\"" },
		{ { "run", "--on-loss=warn", "--signal-grace=1", "n", "true" },
		  "leave out --signal-grace" },
		{ { "run", "--hold-at-least", "1x", "n", "true" }, "\"1x\"" },
		{ { "run", "-F", "n", "true" }, "to renew the lease" },
		{ { "run", "-nF", "n", "true" }, "Leave -F out" },
		{ { "run", "--no-fork", "n", "true" }, "to renew the lease" },
		{ { "hold", "-F", "n" }, "dlock hold has no -F" },
		{ { "run", "--fd", "9" }, "names, not descriptors" },
		{ { "run", "--fd=9" }, "`dlock hold NAME`" },
		{ { "run", "--unlock", "9" }, "ends with the command" },
		{ { "run", "-u", "9" }, "it does not unlock" },
		{ { "run", "-n", "9" }, "names, not descriptors" },
		{ { "show", "-F", "n" }, "no option -F" },
		{ { "hold" }, "one NAME" },
		{ { "hold", "a", "b" }, "one NAME" },
		{ { "hold", "-n", "-w", "3", "n" }, "choose one" },
		{ { "hold", "-c", "true", "n" }, "no option -c" },
		{ { "run", "--nonblok", "n", "true" }, "mean --nonblock" },
		{ { "run", "--frobnicate", "n", "true" }, "dlock help run" },
		{ { "run", "--shared", "-\xc3\xa9", "n" }, "option -\\xc3" },
		{ { "run", "--shared=1", "n", "true" }, "takes no argument" },
		{ { "run", "", "true" }, "" },
		{ { "run", "a\nb", "true" }, "" },
		{ { "run", "\xff", "true" }, "" },
		{ { "run", "-S3", "--take", "4", "n", "true" },
		  "is more than" },
		{ { "run", "--take", "2", "n", "true" }, "is for permits" },
		{ { "run", "-S3", "--take", "0", "n", "true" }, "1 or more" },
		{ { "run", "--on-wanted", "kill", "n", "true" },
		  "ignore or term, not \"kill\"" },
		{ { "run", "-u", "nosuch://x", "n", "true" }, "nosuch" },
		{ { "permits", "n", "0" }, "\"0\" is no number of permits" },
		{ { "permits" }, "wants a NAME" },
		{ { "permits", "n", "1", "2" }, "wants a NAME" },
		{ { "revoke" }, "wants one NAME" },
		{ { "show" }, "one NAME" },
		{ { "show", "a", "b" }, "one NAME" },
		{ { "list", "a" }, "no argument" },
		{ { "list", "--metrics", "--json" }, "--metrics and --json" },
		{ { "list", "--backend", "/no/such.so" },
		  "/no/such.so: No such file" },
		{ { "--backend" }, "--backend wants the file" },
		{ { "break" }, "one NAME" },
		{ { "break", "n" }, "use -y" },
		{ { "backends", "filee" }, "mean file" },
		{ { "backends", "--json", "qqqq" }, "lists them" },
		{ { "backends", "a", "b" }, "one SCHEME" },
		{ { "help", "shwo" }, "mean `dlock show`" },
		{ { "help", "run", "hold" }, "one COMMAND" },
		{ { "version", "all" }, "no argument" },
		{ { "--version", "run" }, "no argument" },
		{ { "compare", "mem:", "--frob" }, "has no option --frob" },
		{ { "compare", "mem:", "--quik" }, "mean --quick" },
		{ { "compare", "mem:", "--lab=1" }, "argument: --lab=1" },
		{ { "compare", "mem:", "-Z" }, "has no option -Z" },
		{ { "compare", "--only=try", "" }, "a URI is empty" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *argv[10] = { NULL };
		struct result r;

		memcpy(argv + 1, cases[i].args, sizeof(cases[i].args));
		r = run(argv);
		cr_expect_eq(r.code, 64, "case %zu: %d %s", i, r.code, r.err);
		cr_expect(strstr(r.err, cases[i].says),
			  "case %zu wants \"%s\": %s", i, cases[i].says, r.err);
		cr_expect(!strncmp(r.err, "dlock: ", 7), "%s", r.err);
		cr_expect_str_empty(r.out);
	}
}

static void options_follow_the_name(void)
{
	struct result r = DLOCK("show", "n", "--json");

	cr_expect_eq(r.code, 1, "%s", r.err);
	cr_expect(strstr(r.out, "\"participants\": []"), "%s", r.out);
	expect_says(DLOCK("break", "n", "-w", "5", "-y"), 1, "nobody holds");
	expect_says(DLOCK("break", "--", "-y"), 64, "use -y");
	expect_says(DLOCK("show", "a", "-v", "--", "-y"), 64, "one NAME");
	expect_says(DLOCK("hold", "n", "-Z"), 64, "has no option -Z");
	/* Behind the name of `dlock run` they would be the command's. */
	expect_says(DLOCK("run", "n", "-n", "true"), 64, "go before \"n\"");
}

Test(usage, options_may_follow_the_name)
{
	options_follow_the_name();
	setenv("POSIXLY_CORRECT", "1", 1);
	options_follow_the_name();
}

Test(usage, without_a_command_is_explained)
{
	struct result r = run(ARGS(NULL, NULL));

	cr_expect_eq(r.code, 64);
	cr_expect_str_empty(r.out);
	cr_expect(has_line(r.err, "usage: dlock COMMAND"), "%s", r.err);
}

Test(usage, help_goes_to_standard_output)
{
	static const char *const args[][3] = {
		{ "help" },
		{ "--help" },
		{ "-h" },
		{ "help", "exit" },
		{ "version" },
		{ "--version" },
		{ "-V" },
		{ "run", "--help" },
		{ "run", "-h" },
		{ "run", "--version" },
		{ "help", "run" },
		{ "help", "hold" },
		{ "help", "show" },
		{ "help", "list" },
		{ "help", "break" },
		{ "help", "backends" },
		{ "help", "help" },
		{ "help", "version" },
		{ "backends" },
		{ "backends", "file" },
	};

	for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
		struct result r = DLOCK(args[i][0], args[i][1]);

		cr_expect_eq(r.code, 0, "%s: %d %s", args[i][0], r.code, r.err);
		cr_expect_str_empty(r.err);
		cr_expect_str_not_empty(r.out);
	}
}

Test(usage, output_that_cannot_be_written_is_an_error)
{
	static const char *const commands[] = {
		"help",     "version",   "backends", "backends --json",
		"help run", "help exit", "show n",   "show --json n",
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char script[80];
		struct result r;

		snprintf(script, sizeof(script), "\"$0\" %s >/dev/full",
			 commands[i]);
		r = run(SH(script));
		cr_expect_eq(r.code, 74, "%s: %d", commands[i], r.code);
		cr_expect(strstr(r.err, "No space left"), "%s", r.err);
		snprintf(script, sizeof(script), "\"$0\" %s >&-", commands[i]);
		r = run(SH(script));
		cr_expect_eq(r.code, 74, "%s: %d", commands[i], r.code);
		cr_expect(strstr(r.err, "Bad file desc"), "%s", r.err);
	}
}

Test(usage, a_reader_that_goes_away_is_no_news)
{
	struct result r = run(SH("trap '' PIPE; (sleep 0.1; \"$0\" help; "
				 "echo $? >&2) | true"));

	cr_expect_str_eq(r.err, "74\n");
}

/* Return the process's arguments, separated by spaces. */
static const char *arguments(pid_t pid)
{
	static char text[8192];
	char path[64];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	cr_assert(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	return text;
}

Test(usage, a_password_on_the_command_line_is_wiped)
{
	int fd = open(full_pipe(), O_WRONLY | O_CLOEXEC);
	pid_t pid = fork();

	/* The warning blocks, so the process stays. */
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(fd, STDERR_FILENO) == STDERR_FILENO)
			execl(getenv("DLOCK_BIN"), "dlock", "run", "-u",
			      "redis://me:geheim-0815@localhost/", "-u",
			      "redis://me:geheim-4711@localhost/", "n",
			      "/bin/true", NULL);
		_exit(99);
	}
	EVENTUALLY(strstr(arguments(pid),
			  "-u redis://me:***********@localhost/ n"));
	cr_expect_null(strstr(arguments(pid), "geheim"));
	kill(pid, SIGKILL);
}

/* The library refuses a password with a '/', '?' or '#' that is not escaped. */
Test(usage, a_password_on_the_command_line_is_warned_of)
{
	static const char *const uris[] = {
		"mem://me:geheim-4711@h/",    "redis://me:a/geheim@h/",
		"redis://me:12/geheim@h/",    "redis://me:a?geheim@h/",
		"redis://me:geheim#4711@h/0", "redis://me:a@b/geheim@h/0",
		"redis:me:geheim@h/0",        "me:geheim@h",
	};

	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct result r = DLOCK("show", "-u", uris[i], "n");

		cr_expect_eq(r.code, 64, "%d %s", r.code, r.err);
		cr_expect(has_line(r.err,
				   "dlock: a password on the command line"),
			  "%s: %s", uris[i], r.err);
		cr_expect_null(strstr(r.err, "geheim"), "%s", r.err);
		setenv("DLOCK_URI", uris[i], 1);
		r = DLOCK("help", "-v");
		cr_expect_null(strstr(r.err, "geheim"), "%s", r.err);
	}
}

Test(usage, a_uri_without_a_password_is_left_alone)
{
	static const char *const uris[] = {
		"file:///tmp/a:b@c",           "mem:?label=a:b@c",
		"mem://h/?label=a:b@c",        "mem://h:1234?label=a:b@c",
		"mem://h1:1,h2:2/0?label=a@b", "mem://[::1]:1234/?label=a@b",
		"mem://[::1]/?label=a@b",      "mem://me@h:1234/?label=a@b",
		"mem://me@h/a@b?label=c:d",
	};

	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct result r;

		setenv("DLOCK_URI", uris[i], 1);
		r = DLOCK("help", "-v");
		cr_expect(strstr(r.err, uris[i]), "%s: %s", uris[i], r.err);
	}
}
