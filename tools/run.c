/* SPDX-License-Identifier: Apache-2.0 */
#include "boottime.h"
#include "child.h"
#include "command.h"
#include "exits.h"
#include "guard.h"
#include "habits.h"
#include "held.h"
#include "job.h"
#include "message.h"
#include "modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
	struct held held;
	char **argv;    /* of the command */
	char *shell[4]; /* the command of -c */
	char *label;
	struct guard guard;
	struct terminal terminal;
	int done; /* the command ran, and was not ended from outside */
};

static int take_shell(struct run *r, char *line)
{
	static char shell[] = "/bin/sh", option[] = "-c";

	if (!*line)
		return fail(LEAVE_USAGE, "the shell line of -c is empty");
	r->shell[0] = shell;
	r->shell[1] = option;
	r->shell[2] = line;
	r->argv = r->shell;
	return 0;
}

/* Take -c behind the name, as flock(1) does: a line, and no more words. */
static int take_shell_behind(struct run *r, char **args)
{
	if (!args[2] || args[3])
		return fail(LEAVE_USAGE,
			    "%s wants one shell line: quote it, as in "
			    "dlock run %s -c 'COMMAND; COMMAND'",
			    args[1], r->held.name);
	return take_shell(r, args[2]);
}

static int check_command(struct run *r, char **args)
{
	const char *name = r->held.name;

	r->argv = args + 1;
	if (args[1] && !strcmp(args[1], "--"))
		r->argv++;
	else if (args[1] && args[1][0] == '-')
		return fail(LEAVE_USAGE,
			    "%s after the lock's name: options of "
			    "dlock go before \"%s\", and a command that begins "
			    "with - needs -- before it",
			    args[1], name);
	if (!r->argv[0] && is_descriptor(name))
		return fail(LEAVE_USAGE,
			    "run what under the lock \"%s\"?  If that is a "
			    "descriptor: " NO_DESCRIPTORS,
			    name);
	if (!r->argv[0])
		return fail(LEAVE_USAGE,
			    "run what under the lock \"%s\"?  "
			    "dlock run %s -- COMMAND [ARGUMENT]...",
			    name, name);
	if (!r->argv[0][0])
		return fail(LEAVE_USAGE, "the command's name is empty");
	return 0;
}

static int check_args(struct run *r)
{
	struct options *o = &r->held.o;
	char **args = o->args;

	if (o->n_args == 0)
		return fail(LEAVE_USAGE, "which lock?  dlock run NAME -- "
					 "COMMAND [ARGUMENT]...");
	if (o->on_loss == ON_LOSS_WARN && o->grace_ms >= 0)
		return fail(LEAVE_USAGE, "--on-loss=warn sends no signal, so "
					 "leave out --signal-grace");
	r->held.name = args[0];
	if (o->shell_line && o->n_args > 1)
		return fail(LEAVE_USAGE,
			    "%s: -c has said what to run under \"%s\"", args[1],
			    args[0]);
	if (o->shell_line)
		return take_shell(r, o->shell_line);
	if (args[1] &&
	    (!strcmp(args[1], "-c") || !strcmp(args[1], "--command")))
		return take_shell_behind(r, args);
	return check_command(r, args);
}

static int start_and_stay(struct run *r, char **envp)
{
	struct held *h = &r->held;
	struct job job = {
		.hold = h->hold,
		.name = h->name,
		.grace_ms = h->o.grace_ms,
		.on_loss = h->o.on_loss,
		.wanted_fd = -1,
		.signals = &h->signals,
		.guard = &r->guard,
		.terminal = &r->terminal,
	};
	struct child child = {
		.argv = r->argv,
		.on_loss = h->o.on_loss,
		.envp = envp,
		.signals = &h->signals,
		.terminal = &r->terminal,
		.guard = &r->guard,
	};
	int status;

	if (h->o.end_if_wanted) {
		job.wanted_fd = dlock_wanted_fd(h->hold);
		if (job.wanted_fd < 0)
			return fail_dlock(job.wanted_fd);
	}
	/* Before the command starts, which would run without the timer. */
	job.timer = boottime_open();
	if (job.timer < 0)
		return fail(exit_for_errno(errno), "cannot make a timer: %s",
			    strerror(errno));
	child.limit = job.told = job_limit(&job);
	if (job.lease_ms > 0 && job_grace_ms(&job) < h->o.grace_ms)
		say("--signal-grace is longer than this lease allows: using "
		    "%d ms",
		    (int)job_grace_ms(&job));
	terminal_look(&r->terminal);
	status = child_start(&child);
	if (status == 0) {
		job.pid = child.pid;
		status = job_run(&job);
		h->end = job.end;
		r->done = !job.asked && !job.killed &&
			  !signals_is_ending(job.end.sig);
	}
	close(job.timer);
	return status;
}

static int run_command(struct run *r)
{
	struct held *h = &r->held;
	char **envp;
	int status = dlock_hold_fd(h->hold);

	if (status < 0)
		return fail_dlock(status);
	envp = child_env(h->name, dlock_uri(h->store.client),
			 dlock_token(h->hold));
	if (!envp)
		return fail(LEAVE_SYSTEM, "out of memory");
	status = start_and_stay(r, envp);
	child_env_free(envp);
	/* A command that did not do its work must not keep others out. */
	if (r->done)
		status = held_keep(h, status);
	return status;
}

/* Whether the URI has a label. */
static int has_label(const char *uri)
{
	return strstr(uri, "?label=") || strstr(uri, "&label=");
}

/* Set the label, unless the user did, to the program's name: arguments may be
 * secrets, and every reader of the store sees labels. */
static int label_command(struct run *r)
{
	struct options *o = &r->held.o;
	const char *slash = strrchr(r->argv[0], '/');
	char host[65] = "";

	if (o->label || has_label(r->held.store.uri.text))
		return 0;
	if (gethostname(host, sizeof(host) - 1) < 0)
		host[0] = '\0';
	if (asprintf(&r->label, "%s:%ld %s", host, (long)getpid(),
		     slash ? slash + 1 : r->argv[0]) < 0) {
		r->label = NULL;
		return fail(LEAVE_SYSTEM, "out of memory");
	}
	o->label = r->label;
	return 0;
}

/* Do the work that comes before the library starts threads. */
static int prepare(struct run *r)
{
	int status = check_args(r);

	if (status == 0)
		status = modules_pass_on();
	if (status == 0)
		status = held_choose(&r->held);
	if (status == 0)
		status = label_command(r);
	if (status == 0 && guard_start(&r->guard, r->held.o.on_loss) < 0)
		status = fail(exit_for_errno(errno),
			      "cannot start the guard: %s", strerror(errno));
	return status;
}

static int run_main(const struct command *self, int argc, char **argv)
{
	struct run r = { .held.began = boottime_now(), .guard.fd = -1 };
	struct held *h = &r.held;
	int status;

	if (!options_parse(&h->o, self, argc, argv))
		return h->o.status;
	status = prepare(&r);
	if (status == 0)
		status = held_open(h);
	if (status == 0)
		status = held_acquire(h);
	if (h->hold)
		status = held_release(h, run_command(&r));
	guard_stop(&r.guard);
	free(r.label);
	return held_close(h, status);
}

static const enum option_id run_options[] = {
	OPTION_URI,       OPTION_REQUIRE,   OPTION_WAIT,      OPTION_NONBLOCK,
	OPTION_SHARED,    OPTION_EXCLUSIVE, OPTION_SEMAPHORE, OPTION_CONFLICT,
	OPTION_CLOSE,     OPTION_COMMAND,   OPTION_AT_LEAST,  OPTION_ON_LOSS,
	OPTION_GRACE,     OPTION_LABEL,     OPTION_VERBOSE,   OPTION_BACKEND,
	OPTION_ON_WANTED, OPTION_TAKE,      OPTION_END,
};

const struct command cmd_run = {
	.name = "run",
	.args = "[-u URI] [-n | -w SEC] [-s | -S PERMITS [--take N]]"
		"\n         [-E CODE] NAME [--] COMMAND...\n"
		"       dlock run [OPTION]... NAME -c LINE",
	.summary = "run a command while holding a lock",
	.text = "Waits for the lock NAME, runs COMMAND, releases the lock, "
		"and exits with\n"
		"COMMAND's exit code, or 128+n if signal n ended it.  No "
		"shell is involved,\n"
		"unless -c gives one a LINE to run.\n"
		"\n"
		"Plain runs exclude all others and are as a program's "
		"mutex; runs with -s share\n"
		"the lock, as readers do.  -S takes one of PERMITS permits "
		"of the semaphore NAME,\n"
		"which is another lock than the lock NAME.\n"
		"\n"
		"COMMAND finds DLOCK_NAME, DLOCK_URI and DLOCK_TOKEN, the "
		"fencing token, in its\n"
		"environment.  If renewals fail, it gets TERM, and KILL "
		"before the lease has run\n"
		"out; --on-loss=term leaves out KILL, and --on-loss=warn "
		"both.\n"
		"\n"
		"A job of a second that many hosts begin at once by their "
		"clocks runs more than\n"
		"once if the clocks differ by more: --hold-at-least 60 "
		"keeps the others out.\n",
	.options = run_options,
	.main = run_main,
};
