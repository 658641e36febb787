/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"
#include "exits.h"
#include "lab/base/fail.h"
#include "lab/report/report.h"
#include "lab/scenarios/compare.h"
#include "lab/scenarios/scenario.h"
#include "lab/worker/order.h"
#include "message.h"
#include "modules.h"
#include "options.h"
#include "signals.h"
#include "store.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_bool stop;
static atomic_int stop_signal;

/* A second signal ends dlock at once; supervisors clean up even then. */
static void on_signal(int sig)
{
	atomic_store(&stop_signal, sig);
	atomic_store(&stop, true);
}

static void catch_signals(void)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act = { .sa_handler = on_signal,
				 .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		if (sigaction(caught[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(caught[i], &act, NULL);
	act.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &act, NULL);
}

/* ---- Progress ------------------------------------------------------------ */

static void show_progress(const struct lab_progress *p, void *arg)
{
	char line[160];

	(void)arg;
	if (!*p->scenario)
		snprintf(line, sizeof(line), "starting %s", p->store);
	else
		snprintf(line, sizeof(line),
			 "%zu of %zu, %" PRId64 " s left: %s, %s: %s", p->done,
			 p->total, (p->left_ms + 999) / 1000, p->store,
			 p->scenario, lab_outcome_words(p->outcome));
	fprintf(stderr, "\r%.79s\033[K", line);
}

/* ---- Reports ------------------------------------------------------------- */

static struct report {
	int (*write)(FILE *, const struct lab_findings *);
	const char *path;
	FILE *out; /* NULL: not wanted */
} reports[] = {
	{ .write = lab_write_table },
	{ .write = lab_write_json },
	{ .write = lab_write_markdown },
	{ .write = lab_write_html },
};

enum { REPORTS = sizeof(reports) / sizeof(reports[0]) };

/* Open the files first: a mistake in a path must not cost a run.  A file keeps
 * the old content until the report is written. */
static int open_reports(const struct options *o)
{
	reports[0].out = stdout;
	reports[0].path = "-";
	reports[1].path = o->json_file;
	reports[2].path = o->markdown_file;
	reports[3].path = o->html_file;
	for (struct report *r = reports + 1; r < reports + REPORTS; r++) {
		if (!r->path)
			continue;
		r->out = stdout;
		if (strcmp(r->path, "-") != 0)
			r->out = fopen(r->path, "ae");
		else if (!reports[0].out)
			return fail(LEAVE_USAGE, "standard output has room for "
						 "one report: give files to "
						 "the others");
		if (!r->out)
			return fail(LEAVE_OUTPUT, "%s: %s", r->path,
				    strerror(errno));
		if (r->out == stdout)
			reports[0].out = NULL;
	}
	return 0;
}

static int write_report(struct report *r, const struct lab_findings *f)
{
	int rc;

	/* No pipe or device can be cut. */
	if (r->out != stdout && ftruncate(fileno(r->out), 0) < 0 &&
	    errno != EINVAL)
		return fail(LEAVE_OUTPUT, "%s: %s", r->path, strerror(errno));
	rc = r->write(r->out, f);
	if (rc < 0)
		say("%s: %s", r->path, lab_errmsg());
	else if (fflush(r->out) != 0 || ferror(r->out))
		rc = fail(-1, "%s: %s", r->path, strerror(errno));
	if (r->out != stdout && fclose(r->out) != 0 && rc == 0)
		rc = fail(-1, "%s: %s", r->path, strerror(errno));
	return rc < 0 ? LEAVE_OUTPUT : 0;
}

static bool any_trouble(const struct lab_findings *f)
{
	for (size_t i = 0; i < f->n_stores; i++)
		if (*f->stores[i].trouble)
			return true;
	return false;
}

static int report(const struct lab_findings *f)
{
	int sig = atomic_load(&stop_signal);
	int status = 0;

	for (struct report *r = reports; r < reports + REPORTS; r++) {
		int s = r->out ? write_report(r, f) : 0;

		status = status ? status : s;
	}
	if (sig)
		return LEAVE_SIGNAL + sig;
	if (status)
		return status;
	if (lab_findings_worst(f) == LAB_OUTCOME_LIE)
		return LEAVE_BROKEN;
	return any_trouble(f) ? LEAVE_UNREACHABLE : 0;
}

/* ---- Options ------------------------------------------------------------- */

/* Describe the options as given, without those that may hold a password. */
static void describe(const struct options *o, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s%s", o->lab ? " --lab" : "",
		 o->quick ? " --quick" : "", o->only ? " --only " : "",
		 o->only ? o->only : "");
	if (*out)
		memmove(out, out + 1, strlen(out));
}

/* Refuse --only, and list the scenarios. */
static int refuse_only(const char *unknown)
{
	const struct lab_scenario *all = lab_scenarios;
	char ids[1024] = "";

	for (size_t i = 0; all[i].id; i++)
		snprintf(ids + strlen(ids), sizeof(ids) - strlen(ids), "%s%s",
			 i ? ", " : "", all[i].id);
	return fail(LEAVE_USAGE,
		    "no scenario is called \"%s\", or begins so; there are: "
		    "%s",
		    unknown, ids);
}

static int check(const struct options *o)
{
	char *unknown = lab_compare_unknown(o->only);
	int status = unknown ? refuse_only(unknown) : 0;

	free(unknown);
	if (!status && !o->n_args && !o->lab && !o->n_foreign)
		status = fail(LEAVE_USAGE,
			      "dlock compare wants URIs, --lab or --foreign");
	for (int i = 0; !status && i < o->n_args; i++)
		if (!*o->args[i])
			status = fail(LEAVE_USAGE, "a URI is empty");
	return status;
}

/* Copies; passwords in argv are overwritten. */
static const char **copy_uris(const struct options *o)
{
	const char **uris = calloc((size_t)o->n_args + 1, sizeof(*uris));

	for (int i = 0; uris && i < o->n_args; i++) {
		uris[i] = strdup(o->args[i]);
		store_wipe_password(o->args[i]);
	}
	return uris;
}

static void free_uris(const char **uris)
{
	for (size_t i = 0; uris && uris[i]; i++)
		free((char *)(uintptr_t)uris[i]);
	free(uris);
}

static int run_compare(const struct options *o, const char **uris)
{
	static char self[4096];
	const char *const worker[] = { self, "compare", "--worker", NULL };
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct lab_findings *f = NULL;
	char text[256];
	struct lab_compare_options options = {
		.uris = uris,
		.n_uris = (size_t)o->n_args,
		.commands = o->foreign,
		.n_commands = o->n_foreign,
		.lab = o->lab,
		.quick = o->quick,
		.seed = o->has_seed ? o->seed : (uint64_t)time(NULL),
		.only = o->only,
		.keep = o->keep,
		.text = text,
		.worker_command = worker,
		.stop = &stop,
		.progress = isatty(STDERR_FILENO) ? show_progress : NULL,
	};
	int status;

	if (n < 0)
		return fail(LEAVE_SYSTEM, "/proc/self/exe: %s",
			    strerror(errno));
	describe(o, text, sizeof(text));
	catch_signals();
	if (lab_compare(&options, &f) < 0)
		return fail(LEAVE_SYSTEM, "%s", lab_errmsg());
	if (options.progress)
		fputs("\r\033[K", stderr);
	status = report(f);
	lab_findings_free(f);
	return status;
}

static int compare_main(const struct command *self, int argc, char **argv)
{
	struct options o;
	const char **uris;
	int status;

	if (argc == 2 && !strcmp(argv[1], "--worker")) {
		status = modules_from_environment();
		return status ? status : lab_worker_main();
	}
	if (!options_parse(&o, self, argc, argv))
		return o.status;
	status = check(&o);
	if (!status)
		status = modules_pass_on();
	if (!status)
		status = open_reports(&o);
	if (status)
		return status;
	uris = copy_uris(&o);
	status = uris ? run_compare(&o, uris) :
			fail(LEAVE_SYSTEM, "out of memory");
	free_uris(uris);
	if (status > LEAVE_SIGNAL)
		signals_follow(&(struct end){ .sig = status - LEAVE_SIGNAL });
	return status;
}

static const enum option_id compare_options[] = {
	OPTION_LAB,       OPTION_QUICK,     OPTION_ONLY,     OPTION_SEED,
	OPTION_FOREIGN,   OPTION_JSON_FILE, OPTION_MARKDOWN, OPTION_HTML,
	OPTION_KEEP_LOGS, OPTION_BACKEND,   OPTION_END,
};

const struct command cmd_compare = {
	.name = "compare",
	.args = "[--lab] [--quick] [OPTION]... [URI]...",
	.summary = "try what stores promise, keep and cost",
	.text = "Runs every scenario with every store and prints verdicts and "
		"figures.  With URIs\n"
		"alone it only does what is safe with a server that others "
		"use.  With --lab it\n"
		"also starts servers of its own, and kills, stops, fills and "
		"cuts them off.  The\n"
		"exit code is 2 if a store broke what it declares.\n",
	.options = compare_options,
	.main = compare_main,
};
