/* SPDX-License-Identifier: Apache-2.0 */
#include "option_table.h"

#include <string.h>

/* getopt_long()'s answer for an option: above all letters. */
#define ANSWER(option) (256 + (int)(option))

const enum option_id no_options[] = { OPTION_END };

static const struct option_row {
	enum option_id option;
	char letter; /* 0: spelt out only */
	const char *name;
	const char *arg;  /* NULL: no argument */
	const char *text; /* NULL: another spelling, not listed */
} rows[] = {
	{ OPTION_URI, 'u', "uri", "URI", "the store [$DLOCK_URI, dlock.conf]" },
	{ OPTION_REQUIRE, 0, "require", "CAPS",
	  "refuse a store that cannot promise CAPS" },
	{ OPTION_WAIT, 'w', "wait", "SEC",
	  "wait at most SEC seconds; 0.25, 250ms and 2m are fine" },
	{ OPTION_WAIT, 'w', "timeout", "SEC", NULL },
	{ OPTION_NONBLOCK, 'n', "nonblock", NULL, "do not wait" },
	{ OPTION_NONBLOCK, 'n', "nb", NULL, NULL },
	{ OPTION_NONBLOCK, 'n', "nonblocking", NULL, NULL },
	{ OPTION_SHARED, 's', "shared", NULL,
	  "share the lock with others that use -s" },
	{ OPTION_EXCLUSIVE, 'x', "exclusive", NULL,
	  "exclude everybody: the default" },
	{ OPTION_EXCLUSIVE, 'e', "ex", NULL, NULL },
	{ OPTION_SEMAPHORE, 'S', "semaphore", "PERMITS",
	  "one permit of the semaphore NAME" },
	{ OPTION_TAKE, 0, "take", "N", "with -S: N permits, all at once" },
	{ OPTION_CONFLICT, 'E', "conflict-exit-code", "CODE",
	  "exit code for a busy lock [1]" },
	{ OPTION_CLOSE, 'o', "close", NULL,
	  "accepted; the command never inherits the lock" },
	{ OPTION_COMMAND, 'c', "command", "LINE", "run LINE with /bin/sh -c" },
	{ OPTION_AT_LEAST, 0, "hold-at-least", "SEC",
	  "keep the lock so long, even if it ends sooner" },
	{ OPTION_ON_LOSS, 0, "on-loss", "kill|term|warn",
	  "what to do to the command [kill]" },
	{ OPTION_ON_WANTED, 0, "on-wanted", "ignore|term",
	  "what to do when others want the lock [ignore]" },
	{ OPTION_GRACE, 0, "signal-grace", "SEC",
	  "time from TERM to KILL when renewals fail" },
	{ OPTION_LABEL, 0, "label", "TEXT",
	  "the text that `dlock show` prints" },
	{ OPTION_LONG, 'l', "long", NULL, "also print who holds each lock" },
	{ OPTION_JSON, 0, "json", NULL, "print JSON" },
	{ OPTION_METRICS, 0, "metrics", NULL, "print Prometheus' text format" },
	{ OPTION_BACKEND, 0, "backend", "FILE",
	  "load the store in this shared object" },
	{ OPTION_YES, 'y', "yes", NULL, "do not ask" },
	{ OPTION_VERBOSE, 'v', "verbose", NULL,
	  "report what happens; twice: everything" },
	{ OPTION_LAB, 0, "lab", NULL,
	  "also private servers of every store, with faults" },
	{ OPTION_QUICK, 0, "quick", NULL, "fewer rounds, shorter leases" },
	{ OPTION_ONLY, 0, "only", "IDS",
	  "these scenarios, or those that begin so" },
	{ OPTION_SEED, 0, "seed", "NUMBER",
	  "of names and order [from the clock]" },
	{ OPTION_FOREIGN, 0, "foreign", "CMD",
	  "also a lock command; may be repeated" },
	{ OPTION_JSON_FILE, 0, "json", "FILE",
	  "write the findings as JSON, - is stdout" },
	{ OPTION_MARKDOWN, 0, "markdown", "FILE",
	  "write a report in Markdown" },
	{ OPTION_HTML, 0, "html", "FILE", "write a report in one HTML page" },
	{ OPTION_KEEP_LOGS, 0, "keep-logs", "DIR",
	  "keep histories in DIR, which is made" },
	{ OPTION_HELP, 'h', "help", NULL, "print this" },
	{ OPTION_VERSION, 'V', "version", NULL, NULL },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

_Static_assert(ROWS <= MOST_OPTIONS, "MOST_OPTIONS is too small");

int option_taken(const struct command *cmd, enum option_id option)
{
	if (option == OPTION_HELP || option == OPTION_VERSION)
		return 1;
	for (const enum option_id *o = cmd->options; *o != OPTION_END; o++)
		if (*o == option)
			return 1;
	return 0;
}

enum option_id option_of(int answer)
{
	if (answer > ANSWER(OPTION_END))
		return (enum option_id)(answer - ANSWER(OPTION_END));
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].letter == answer)
			return rows[i].option;
	return OPTION_END;
}

char option_letter(enum option_id option)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].option == option)
			return rows[i].letter;
	return 0;
}

void options_print(FILE *out, const struct command *cmd)
{
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &rows[i];
		char left[40];

		if (!row->text || !option_taken(cmd, row->option))
			continue;
		if (row->letter)
			snprintf(left, sizeof(left), "-%c, --%s", row->letter,
				 row->name);
		else
			snprintf(left, sizeof(left), "    --%s", row->name);
		if (row->arg)
			snprintf(left + strlen(left),
				 sizeof(left) - strlen(left), " %s", row->arg);
		fprintf(out, "  %-30s %s\n", left, row->text);
	}
}

void option_spec_make(struct option_spec *spec, const struct command *cmd)
{
	char *letter = spec->letters;
	size_t n = 0;

	memset(spec, 0, sizeof(*spec));
	/* The command's own options are not ours.  Either letter overrules
	 * $POSIXLY_CORRECT. */
	*letter++ = cmd == &cmd_run ? '+' : '-';
	*letter++ = ':';
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &rows[i];

		if (!option_taken(cmd, row->option))
			continue;
		spec->names[n] = row->name;
		spec->words[n++] = (struct option){ row->name, row->arg != NULL,
						    NULL, ANSWER(row->option) };
		if (!row->letter)
			continue;
		*letter++ = row->letter;
		if (row->arg)
			*letter++ = ':';
	}
}
