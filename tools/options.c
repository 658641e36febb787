/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"
#include "exits.h"
#include "habits.h"
#include "message.h"
#include "modules.h"
#include "number.h"
#include "option_table.h"
#include "password.h"
#include "usage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Options that exclude each other; OPTION_END: none given. */
struct choice {
	enum option_id kind;
	enum option_id wait;
};

static int refuse_kind(struct options *o, enum option_id option,
		       enum option_id *chosen)
{
	if (*chosen != OPTION_END && *chosen != option) {
		o->status = fail(LEAVE_USAGE,
				 "-%c and -%c cannot be used together",
				 option_letter(*chosen), option_letter(option));
		return 1;
	}
	*chosen = option;
	return 0;
}

/* flock(1) has -u to unlock. */
static int take_uri(struct options *o)
{
	/* Of several URIs the last counts. */
	if (o->uri)
		password_hide(o->uri);
	o->uri = optarg;
	if (!is_descriptor(optarg))
		return 1;
	o->status = fail(LEAVE_USAGE,
			 "-u wants the URI of a store, not \"%s\"; it does not "
			 "unlock: the lock of `dlock run` ends with the "
			 "command, and that of `dlock hold` with its standard "
			 "input",
			 optarg);
	return 0;
}

static int take_duration(struct options *o, const char *option, int64_t *out)
{
	if (parse_duration(optarg, out))
		return 1;
	o->status = fail(LEAVE_USAGE,
			 "%s wants a number of seconds such as 5 or 0.5, or a "
			 "duration such as 250ms or 2m, not \"%s\"",
			 option, optarg);
	return 0;
}

static int take_wait(struct options *o, enum option_id option, struct choice *c)
{
	if (c->wait != OPTION_END && c->wait != option) {
		o->status = fail(LEAVE_USAGE, "-n does not wait and -w does: "
					      "choose one");
		return 0;
	}
	c->wait = option;
	if (option == OPTION_WAIT)
		return take_duration(o, "-w", &o->wait_ms);
	o->wait_ms = 0;
	return 1;
}

/* The message says what the option `wants`. */
static int take_number(struct options *o, uint32_t least, uint32_t most,
		       const char *wants, uint32_t *out)
{
	if (parse_number(optarg, least, most, out))
		return 1;
	o->status = fail(LEAVE_USAGE, "%s, not \"%s\"", wants, optarg);
	return 0;
}

static int take_kind(struct options *o, enum option_id option, struct choice *c)
{
	if (refuse_kind(o, option, &c->kind))
		return 0;
	o->shared = option == OPTION_SHARED;
	if (option != OPTION_SEMAPHORE)
		return 1;
	o->kind = KIND_SEMAPHORE;
	return take_number(o, 1, UINT32_MAX,
			   "-S wants the number of permits, 1 or more",
			   &o->permits);
}

/* When all options are known. */
static int check_take(struct options *o)
{
	if (o->take == 0 ||
	    (o->kind == KIND_SEMAPHORE && o->take <= o->permits))
		return 1;
	if (o->kind != KIND_SEMAPHORE)
		o->status = fail(LEAVE_USAGE, "--take is for permits: it needs "
					      "-S PERMITS");
	else
		o->status = fail(LEAVE_USAGE,
				 "--take %" PRIu32 " is more than the "
				 "semaphore's %" PRIu32 " permits",
				 o->take, o->permits);
	return 0;
}

static int take_on_loss(struct options *o)
{
	static const char *const actions[] = {
		[ON_LOSS_KILL] = "kill",
		[ON_LOSS_TERM] = "term",
		[ON_LOSS_WARN] = "warn",
	};

	for (int i = 0; i <= ON_LOSS_WARN; i++) {
		if (!strcmp(optarg, actions[i])) {
			o->on_loss = (enum on_loss)i;
			return 1;
		}
	}
	o->status = fail(LEAVE_USAGE,
			 "--on-loss wants kill, term or warn, not \"%s\"",
			 optarg);
	return 0;
}

static int take_on_wanted(struct options *o)
{
	o->end_if_wanted = !strcmp(optarg, "term");
	if (o->end_if_wanted || !strcmp(optarg, "ignore"))
		return 1;
	o->status = fail(LEAVE_USAGE,
			 "--on-wanted wants ignore or term, not \"%s\"",
			 optarg);
	return 0;
}

static int take_seed(struct options *o)
{
	char *end = NULL;

	errno = 0;
	if (*optarg >= '0' && *optarg <= '9')
		o->seed = strtoull(optarg, &end, 10);
	o->has_seed = 1;
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

/* Take an option of a comparison. */
static int take_compare(struct options *o, enum option_id option)
{
	switch (option) {
	case OPTION_LAB:
		o->lab = 1;
		return 1;
	case OPTION_QUICK:
		o->quick = 1;
		return 1;
	case OPTION_ONLY:
		o->only = optarg;
		return 1;
	case OPTION_JSON_FILE:
		o->json_file = optarg;
		return 1;
	case OPTION_MARKDOWN:
		o->markdown_file = optarg;
		return 1;
	case OPTION_HTML:
		o->html_file = optarg;
		return 1;
	case OPTION_KEEP_LOGS:
		o->keep = optarg;
		return 1;
	case OPTION_FOREIGN:
		return take_foreign(o);
	default: /* OPTION_SEED */
		return take_seed(o);
	}
}

/* Take an option that sets one member.  Returns 0 for other options. */
static int take_setting(struct options *o, enum option_id option)
{
	switch (option) {
	case OPTION_REQUIRE:
		o->require = optarg;
		return 1;
	case OPTION_COMMAND:
		o->shell_line = optarg;
		return 1;
	case OPTION_LABEL:
		o->label = optarg;
		return 1;
	case OPTION_LONG:
		o->in_full = 1;
		return 1;
	case OPTION_JSON:
		o->json = 1;
		return 1;
	case OPTION_METRICS:
		o->metrics = 1;
		return 1;
	case OPTION_YES:
		o->yes = 1;
		return 1;
	case OPTION_VERBOSE:
		o->verbose++;
		return 1;
	case OPTION_CLOSE:
		return 1;
	default:
		return 0;
	}
}

/* Returns 1 to go on, 0 to leave with o->status. */
static int take_option(struct options *o, const struct command *cmd,
		       enum option_id option, struct choice *c)
{
	if (take_setting(o, option))
		return 1;
	switch (option) {
	case OPTION_URI:
		return take_uri(o);
	case OPTION_WAIT:
	case OPTION_NONBLOCK:
		return take_wait(o, option, c);
	case OPTION_SHARED:
	case OPTION_EXCLUSIVE:
	case OPTION_SEMAPHORE:
		return take_kind(o, option, c);
	case OPTION_TAKE:
		return take_number(o, 1, UINT32_MAX,
				   "--take wants a number of permits, 1 or "
				   "more",
				   &o->take);
	case OPTION_CONFLICT:
		return take_number(o, 0, 255,
				   "-E wants an exit code from 0 to 255",
				   &o->conflict);
	case OPTION_GRACE:
		return take_duration(o, "--signal-grace", &o->grace_ms);
	case OPTION_AT_LEAST:
		return take_duration(o, "--hold-at-least", &o->at_least_ms);
	case OPTION_ON_LOSS:
		return take_on_loss(o);
	case OPTION_ON_WANTED:
		return take_on_wanted(o);
	case OPTION_BACKEND:
		o->status = modules_load(optarg);
		return o->status == LEAVE_OK;
	case OPTION_VERSION:
		o->status = print_version();
		return 0;
	case OPTION_HELP:
		o->status = print_usage(cmd);
		return 0;
	default:
		return take_compare(o, option);
	}
}

static int refuse(const struct command *cmd, const struct option_spec *spec,
		  const char *word)
{
	const char *name = strncmp(word, "--", 2) ? NULL : word + 2;
	const char *meant = name ? nearest(name, spec->names) : NULL;
	const char *habit = habit_of(word, optopt);

	if (habit && (cmd == &cmd_run || cmd == &cmd_hold))
		return fail(LEAVE_USAGE, "dlock %s has %s", cmd->name, habit);
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
	struct choice choice = { OPTION_END, OPTION_END };
	struct option_spec spec;
	int answer;

	*o = (struct options){
		.wait_ms = -1,
		.grace_ms = -1,
		.conflict = LEAVE_BUSY,
		.args = argv + 1,
	};
	option_spec_make(&spec, cmd);
	optind = 1;
	opterr = 0;
	for (;;) {
		int at = optind;

		answer = getopt_long(argc, argv, spec.letters, spec.words,
				     NULL);
		if (answer == -1)
			break;
		if (answer == ANSWER_WORD) {
			o->args[o->n_args++] = optarg;
			continue;
		}
		if (answer == ':') {
			o->status = fail(LEAVE_USAGE, "%s wants an argument",
					 argv[optind - 1]);
			return 0;
		}
		if (answer == '?') {
			o->status = refuse(cmd, &spec, argv[at]);
			return 0;
		}
		if (!take_option(o, cmd, option_of(answer), &choice))
			return 0;
	}
	memmove(o->args + o->n_args, argv + optind,
		(size_t)(argc - optind + 1) * sizeof(*argv));
	o->n_args += argc - optind;
	if (option_taken(cmd, OPTION_BACKEND))
		o->status = modules_from_environment();
	return o->status == LEAVE_OK && check_take(o);
}
