/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"
#include "exits.h"
#include "help.h"
#include "message.h"
#include "number.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* Letters from A to Z that no flock(1) habit asks for are long options only. */
static const char long_only[] = "ADFGHJKLMOQZ";

static const struct option_row {
	int letter;
	const char *name;
	const char *arg;  /* NULL: takes none */
	const char *text; /* NULL: another spelling, not listed */
} rows[] = {
	{ 'u', "uri", "URI", "the store [$DLOCK_URI]" },
	{ 'w', "wait", "SEC", "wait at most SEC seconds, 0.25 is fine" },
	{ 'w', "timeout", "SEC", NULL },
	{ 'n', "nonblock", NULL, "do not wait" },
	{ 'n', "nb", NULL, NULL },
	{ 's', "shared", NULL, "share the lock with others that use -s" },
	{ 'x', "exclusive", NULL, "exclude everybody: the default" },
	{ 'e', "ex", NULL, NULL },
	{ 'm', "mutex", NULL, "the mutex NAME, as dlock_mutex_new() makes" },
	{ 'S', "semaphore", "PERMITS", "one permit of the semaphore NAME" },
	{ 'E', "conflict-exit-code", "CODE", "exit code for a busy lock [1]" },
	{ 'o', "close", NULL, "the command inherits no lock: the default" },
	{ 'G', "signal-grace", "SEC",
	  "from TERM to KILL when the lock is being lost" },
	{ 'L', "label", "TEXT", "what others see in `dlock show`" },
	{ 'J', "json", NULL, "print JSON" },
	{ 'y', "yes", NULL, "do not ask" },
	{ 'v', "verbose", NULL, "say what happens; twice: everything" },
	{ 'A', "lab", NULL,
	  "also private servers of every store, with faults" },
	{ 'Q', "quick", NULL, "fewer rounds, shorter leases" },
	{ 'O', "only", "IDS", "these behaviours, or those that begin so" },
	{ 'Z', "seed", "NUMBER", "of names and order [from the clock]" },
	{ 'F', "foreign", "CMD", "also a lock command; may be repeated" },
	{ 'D', "json", "FILE", "write the findings as JSON, - is stdout" },
	{ 'M', "markdown", "FILE", "write a report in Markdown" },
	{ 'H', "html", "FILE", "write a report in one HTML page" },
	{ 'K', "keep-logs", "DIR", "keep histories in DIR, which is made" },
	{ 'h', "help", NULL, "print this" },
	{ 'V', "version", NULL, NULL },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int taken(const struct command *cmd, const struct option_row *row)
{
	return strchr(cmd->options, row->letter == 'e' ? 'x' : row->letter) ||
	       strchr("hV", row->letter);
}

void options_print(FILE *out, const struct command *cmd)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &rows[i];
		char left[40];

		if (!row->text || !taken(cmd, row))
			continue;
		if (strchr(long_only, row->letter))
			snprintf(left, sizeof(left), "    --%s", row->name);
		else
			snprintf(left, sizeof(left), "-%c, --%s", row->letter,
				 row->name);
		if (row->arg)
			snprintf(left + strlen(left),
				 sizeof(left) - strlen(left), " %s", row->arg);
		fprintf(out, "  %-30s %s\n", left, row->text);
	}
}

/* What getopt_long(3) wants to know of the options that `cmd` takes. */
struct spec {
	char letters[2 * ROWS + 3];
	struct option words[ROWS + 1];
	const char *names[ROWS + 1];
};

static void make_spec(struct spec *spec, const struct command *cmd)
{
	char *letter = spec->letters;
	size_t n = 0;

	memset(spec, 0, sizeof(*spec));
	if (cmd != &cmd_compare)
		*letter++ = '+'; /* the command's own options are not ours */
	*letter++ = ':';
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &rows[i];

		if (!taken(cmd, row))
			continue;
		spec->names[n] = row->name;
		spec->words[n++] = (struct option){ row->name, row->arg != NULL,
						    NULL, row->letter };
		if (strchr(long_only, row->letter))
			continue;
		*letter++ = (char)row->letter;
		if (row->arg)
			*letter++ = ':';
	}
}

static int refuse_kind(struct options *o, int letter, int *chosen)
{
	if (*chosen && *chosen != letter) {
		o->status = fail(LEAVE_USAGE,
				 "-%c and -%c cannot be used together", *chosen,
				 letter);
		return 1;
	}
	*chosen = letter;
	return 0;
}

/* What was given once and shuts out others. */
struct choice {
	int kind;
	int wait;
};

static int take_wait(struct options *o, int letter, struct choice *c)
{
	if (c->wait && c->wait != letter) {
		o->status = fail(LEAVE_USAGE, "-n does not wait and -w does: "
					      "choose one");
		return 0;
	}
	c->wait = letter;
	if (letter == 'n') {
		o->wait_ms = 0;
	} else if (!parse_seconds(optarg, &o->wait_ms)) {
		o->status = fail(LEAVE_USAGE,
				 "-w wants a number of seconds "
				 "such as 10 or 0.5, not \"%s\"",
				 optarg);
		return 0;
	}
	return 1;
}

static int take_kind(struct options *o, int letter, struct choice *c)
{
	long number;

	if (refuse_kind(o, letter == 'e' ? 'x' : letter, &c->kind))
		return 0;
	o->shared = letter == 's';
	if (letter == 'm')
		o->kind = KIND_MUTEX;
	if (letter != 'S')
		return 1;
	o->kind = KIND_SEMAPHORE;
	if (!parse_number(optarg, 1, UINT32_MAX, &number)) {
		o->status = fail(LEAVE_USAGE,
				 "-S wants the number of permits, "
				 "1 or more, not \"%s\"",
				 optarg);
		return 0;
	}
	o->permits = (uint32_t)number;
	return 1;
}

static int take_number(struct options *o, int letter)
{
	long number;

	if (letter == 'G') {
		if (parse_seconds(optarg, &o->grace_ms))
			return 1;
		o->status = fail(LEAVE_USAGE,
				 "--signal-grace wants a number "
				 "of seconds such as 5 or 0.5, not \"%s\"",
				 optarg);
		return 0;
	}
	if (!parse_number(optarg, 0, 255, &number)) {
		o->status = fail(LEAVE_USAGE,
				 "-E wants an exit code from 0 to "
				 "255, not \"%s\"",
				 optarg);
		return 0;
	}
	o->conflict = (int)number;
	return 1;
}

static int take_seed(struct options *o)
{
	char *end = NULL;

	errno = 0;
	if (*optarg >= '0' && *optarg <= '9')
		o->seed = strtoull(optarg, &end, 10);
	if (end && !*end && errno == 0)
		return 1;
	o->status = fail(LEAVE_USAGE, "--seed wants a number, not \"%s\"",
			 optarg);
	return 0;
}

static int take_foreign(struct options *o)
{
	if (o->n_foreign < MOST_FOREIGN) {
		o->foreign[o->n_foreign++] = optarg;
		return 1;
	}
	o->status = fail(LEAVE_USAGE, "--foreign can be given %d times",
			 MOST_FOREIGN);
	return 0;
}

/* Those of a comparison. */
static int take_compare(struct options *o, int letter)
{
	switch (letter) {
	case 'A':
		o->lab = 1;
		return 1;
	case 'Q':
		o->quick = 1;
		return 1;
	case 'O':
		o->only = optarg;
		return 1;
	case 'D':
		o->json_file = optarg;
		return 1;
	case 'M':
		o->markdown_file = optarg;
		return 1;
	case 'H':
		o->html_file = optarg;
		return 1;
	case 'K':
		o->keep = optarg;
		return 1;
	case 'F':
		return take_foreign(o);
	default: /* 'Z' */
		return take_seed(o);
	}
}

/* Returns 1 to go on, 0 to leave with o->status. */
static int take(struct options *o, const struct command *cmd, int letter,
		struct choice *c)
{
	switch (letter) {
	case 'u':
		o->uri = optarg;
		return 1;
	case 'w':
	case 'n':
		return take_wait(o, letter, c);
	case 's':
	case 'x':
	case 'e':
	case 'm':
	case 'S':
		return take_kind(o, letter, c);
	case 'E':
	case 'G':
		return take_number(o, letter);
	case 'L':
		o->label = optarg;
		return 1;
	case 'J':
		o->json = 1;
		return 1;
	case 'y':
		o->yes = 1;
		return 1;
	case 'v':
		o->verbose++;
		return 1;
	case 'o':
		return 1;
	case 'A':
	case 'D':
	case 'F':
	case 'H':
	case 'K':
	case 'M':
	case 'O':
	case 'Q':
	case 'Z':
		return take_compare(o, letter);
	case 'V':
		o->status = cmd_version.main(&cmd_version, 0, NULL);
		return 0;
	default: /* 'h' */
		o->status = help_command(cmd);
		return 0;
	}
}

static int refuse(const struct command *cmd, const struct spec *spec,
		  const char *word)
{
	const char *name = strncmp(word, "--", 2) ? NULL : word + 2;
	const char *meant = name ? nearest(name, spec->names) : NULL;

	if (!name && optopt == 'c' && cmd == &cmd_run)
		return fail(LEAVE_USAGE, "dlock runs no shell; write: "
					 "dlock run NAME -- sh -c 'COMMAND'");
	if (name && optopt)
		return fail(LEAVE_USAGE, "this option takes no argument: %s",
			    word);
	if (meant)
		return fail(LEAVE_USAGE,
			    "dlock %s has no option %s: did you "
			    "mean --%s?",
			    cmd->name, word, meant);
	if (name)
		return fail(LEAVE_USAGE,
			    "dlock %s has no option %s: see "
			    "`dlock help %s`",
			    cmd->name, word, cmd->name);
	return fail(LEAVE_USAGE,
		    "dlock %s has no option -%c: see "
		    "`dlock help %s`",
		    cmd->name, optopt, cmd->name);
}

int options_parse(struct options *o, const struct command *cmd, int argc,
		  char **argv)
{
	struct choice choice = { 0, 0 };
	struct spec spec;
	int letter;

	*o = (struct options){
		.wait_ms = -1,
		.grace_ms = -1,
		.conflict = LEAVE_BUSY,
	};
	make_spec(&spec, cmd);
	optind = 1;
	opterr = 0;
	for (;;) {
		int at = optind;

		letter = getopt_long(argc, argv, spec.letters, spec.words,
				     NULL);
		if (letter == -1)
			break;
		if (letter == ':') {
			o->status = fail(LEAVE_USAGE, "%s wants an argument",
					 argv[optind - 1]);
			return 0;
		}
		if (letter == '?') {
			o->status = refuse(cmd, &spec, argv[at]);
			return 0;
		}
		if (!take(o, cmd, letter, &choice))
			return 0;
	}
	o->args = argv + optind;
	o->n_args = argc - optind;
	return 1;
}
