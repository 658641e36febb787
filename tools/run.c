/* SPDX-License-Identifier: Apache-2.0 */
#include "boottime.h"
#include "child.h"
#include "command.h"
#include "exits.h"
#include "guard.h"
#include "job.h"
#include "message.h"
#include "signals.h"
#include "store.h"
#include "wait.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct run {
	struct options o;
	const char *name;
	char **argv; /* of the command */
	int64_t began;
	struct store store;
	struct guard guard;
	struct signals signals;
	struct terminal terminal;
	dlock_lock *lock;
	dlock_hold *hold;
};

static void on_event(dlock_hold *hold, enum dlock_event event, const char *why,
		     void *arg)
{
	const struct run *r = arg;

	(void)hold;
	switch (event) {
	case DLOCK_AT_RISK:
		say("\"%s\" is at risk: %s", r->name, why);
		break;
	case DLOCK_SAFE:
		say("\"%s\" is safe again", r->name);
		break;
	case DLOCK_LOST:
		say("\"%s\" is lost: %s", r->name, why);
		break;
	}
}

static int check_args(struct run *r)
{
	char **args = r->o.args;

	if (r->o.n_args == 0)
		return fail(LEAVE_USAGE, "which lock?  dlock run NAME -- "
					 "COMMAND [ARGUMENT]...");
	r->name = args[0];
	r->argv = args + 1;
	if (args[1] && !strcmp(args[1], "--"))
		r->argv++;
	else if (args[1] && args[1][0] == '-')
		return fail(LEAVE_USAGE,
			    "%s after the lock's name: options of "
			    "dlock go before \"%s\", and a command that begins "
			    "with - needs -- before it",
			    args[1], r->name);
	if (!r->argv[0])
		return fail(LEAVE_USAGE,
			    "run what under the lock \"%s\"?  "
			    "dlock run %s -- COMMAND [ARGUMENT]...",
			    r->name, r->name);
	if (!r->argv[0][0])
		return fail(LEAVE_USAGE, "the command's name is empty");
	return 0;
}

static int64_t clamp(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

/* When the command is told, and when it must be dead.  The lease that is left
 * now is the measure: `max_hold` may end it long before its ttl. */
static void set_times(struct job *j, const struct run *r)
{
	int64_t lease_ms = dlock_remaining_ms(r->hold);

	if (lease_ms < 0)
		return;
	j->kill_ms = clamp(lease_ms / 100, 50, 250);
	j->kill_ms = clamp(j->kill_ms, 1, lease_ms / 8 + 1);
	j->grace_ms = r->o.grace_ms;
	if (j->grace_ms < 0)
		j->grace_ms = clamp(lease_ms / 4, 0, 5000);
	/* Renewals come at a third of the lease: more than half of it left is
	 * its everyday state. */
	if (j->grace_ms > lease_ms / 2) {
		j->grace_ms = lease_ms / 2;
		say("--signal-grace is more than half the lease: using %d ms",
		    (int)j->grace_ms);
	}
	j->grace_ms = clamp(j->grace_ms, j->kill_ms, lease_ms);
}

static int start_and_stay(struct run *r, char **envp)
{
	struct job job = {
		.hold = r->hold,
		.name = r->name,
		.signals = &r->signals,
		.guard = &r->guard,
		.terminal = &r->terminal,
	};
	struct child child = {
		.argv = r->argv,
		.envp = envp,
		.signals = &r->signals,
		.terminal = &r->terminal,
		.guard = &r->guard,
	};
	int status;

	/* Before there is a command that would run without it. */
	job.timer = boottime_open();
	if (job.timer < 0)
		return fail(LEAVE_SYSTEM, "cannot make a timer: %s",
			    strerror(errno));
	set_times(&job, r);
	child.limit = job.told = job_limit(&job);
	terminal_look(&r->terminal);
	status = child_start(&child);
	if (status == 0) {
		job.pid = child.pid;
		status = job_run(&job);
	}
	close(job.timer);
	return status;
}

static int run_command(struct run *r)
{
	char **envp;
	int status = dlock_hold_fd(r->hold);

	if (status < 0)
		return fail_dlock(status);
	envp = child_env(r->name, dlock_uri(r->store.client),
			 dlock_token(r->hold));
	if (!envp)
		return fail(LEAVE_SYSTEM, "out of memory");
	status = start_and_stay(r, envp);
	child_env_free(envp);
	return status;
}

static int release(struct run *r, int status)
{
	int code = dlock_release(r->hold);

	if (code == DLOCK_OK || status == LEAVE_LOST)
		return status;
	if (code == DLOCK_ELOST)
		return fail(LEAVE_LOST,
			    "\"%s\" was lost before it was "
			    "released: what the command did at its end may "
			    "have met others",
			    r->name);
	say("the release of \"%s\" failed, it comes free when its lease ends: "
	    "%s",
	    r->name, dlock_errmsg());
	return status;
}

static int run_locked(struct run *r)
{
	int64_t wait_ms = r->o.wait_ms;
	int code, sig;

	/* Opening the store took its part of the time. */
	if (wait_ms > 0)
		wait_ms = clamp(wait_ms - (boottime_now() - r->began) / MS, 0,
				wait_ms);
	if (r->o.verbose)
		say("waiting for \"%s\"", r->name);
	code = wait_acquire(r->lock, r->o.shared, wait_ms, &r->signals,
			    &r->hold, &sig);
	if (sig)
		return LEAVE_SIGNAL + sig;
	if (code == DLOCK_EBUSY) {
		if (r->o.verbose)
			say("\"%s\" is held by others", r->name);
		return r->o.conflict;
	}
	if (code > 0)
		return fail(LEAVE_SYSTEM, "cannot wait for \"%s\": %s", r->name,
			    strerror(code));
	if (code < 0)
		return fail_dlock(code);
	if (r->o.verbose)
		say("holding \"%s\", token %llu", r->name,
		    (unsigned long long)dlock_token(r->hold));
	return release(r, run_command(r));
}

/* What must be done before the library starts its threads. */
static int prepare(struct run *r)
{
	int status = check_args(r);

	if (status == 0)
		status = store_choose(&r->store, &r->o);
	if (status == 0 && guard_start(&r->guard) < 0)
		status = fail(LEAVE_SYSTEM, "cannot start the guard: %s",
			      strerror(errno));
	return status;
}

static int run_main(const struct command *self, int argc, char **argv)
{
	struct run r = { .began = boottime_now(), .guard.fd = -1 };
	int status;

	if (!options_parse(&r.o, self, argc, argv))
		return r.o.status;
	status = prepare(&r);
	if (status == 0)
		status = store_open(&r.store, &r.o, on_event, &r);
	if (status == 0)
		status = store_lock(&r.lock, &r.store, &r.o, r.name);
	if (status == 0 && signals_take(&r.signals) < 0)
		status = fail(LEAVE_SYSTEM, "signals: %s", strerror(errno));
	else if (status == 0)
		status = run_locked(&r);
	guard_stop(&r.guard);
	dlock_free(r.lock);
	store_close(&r.store);
	return status;
}

const struct command cmd_run = {
	.name = "run",
	.args = "[-u URI] [-n | -w SEC] [-s | -m | -S PERMITS] [-E CODE] "
		"NAME [--] COMMAND...",
	.summary = "run a command while holding a lock",
	.text = "Waits for the lock NAME, runs COMMAND, releases the lock, and "
		"leaves with COMMAND's\n"
		"exit code, or 128+n if signal n ended it.  No shell is "
		"involved.\n\n"
		"The lock is the read-write lock NAME: plain runs exclude all "
		"others, runs with -s\n"
		"share it.  -m takes the mutex NAME instead, -S one of PERMITS "
		"permits; locks of\n"
		"different kinds never meet.\n\n"
		"COMMAND finds DLOCK_NAME, DLOCK_URI and DLOCK_TOKEN, the "
		"fencing token, in its\n"
		"environment.  If the lock is being lost, it gets TERM, and "
		"KILL before the lease\n"
		"has run out.\n",
	.options = "uwnsxmSEoGLv",
	.main = run_main,
};
