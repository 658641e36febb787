/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/store.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64 /* names for --only */

enum { GOOD = 0, BAD = 1, USAGE = 2 };
enum verdict { PASSED, FAILED, SKIPPED };

static struct {
	const char *only[MOST]; /* none: all benches */
	size_t n;
	int check, json, list, no_pin, help;
	double seconds;
} options;

static const char help[] =
	"usage: dlock-bench [--only NAME]... [--seconds S] [--json] [--check]\n"
	"                   [--no-pin] [--list] [--help]\n"
	"  --only NAME   this one; may be given again\n"
	"  --seconds S   to measure each, 0.1 to 3600 (default 3; with --check "
	"1)\n"
	"  --json        one JSON object a line instead of a table\n"
	"  --check       quick; fail if a target is missed by far, and end "
	"with\n"
	"                \"N passed, N failed, N skipped\" (with --json on "
	"standard error)\n"
	"  --no-pin      let the system place threads and processes\n"
	"  --list        name what there is\n";

static int want(const char *name)
{
	for (const struct bench *b = bench_table; b->name; b++) {
		if (strcmp(b->name, name) == 0 && options.n < MOST) {
			options.only[options.n++] = name;
			return GOOD;
		}
	}
	fprintf(stderr, "dlock-bench: no bench '%s'; --list shows them\n",
		name);
	return USAGE;
}

static int wanted(const struct bench *b)
{
	for (size_t i = 0; i < options.n; i++)
		if (strcmp(options.only[i], b->name) == 0)
			return 1;
	return options.n == 0;
}

static int set_seconds(const char *text)
{
	char *end;

	options.seconds = strtod(text, &end);
	if (end != text && !*end && options.seconds >= 0.1 &&
	    options.seconds <= 3600)
		return GOOD;
	fprintf(stderr,
		"dlock-bench: --seconds %s: must be a number from 0.1 to "
		"3600\n",
		text);
	return USAGE;
}

static int parse(int argc, char **argv)
{
	const struct option known[] = {
		{ "only", required_argument, NULL, 'o' },
		{ "seconds", required_argument, NULL, 's' },
		{ "json", no_argument, &options.json, 1 },
		{ "check", no_argument, &options.check, 1 },
		{ "no-pin", no_argument, &options.no_pin, 1 },
		{ "list", no_argument, &options.list, 1 },
		{ "help", no_argument, &options.help, 1 },
		{ 0 }
	};
	int rc = GOOD, c;

	while (rc == GOOD &&
	       (c = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (c == 'o')
			rc = want(optarg);
		else if (c == 's')
			rc = set_seconds(optarg);
		else if (c != 0)
			rc = USAGE;
	}
	if (rc == GOOD && optind < argc) {
		fprintf(stderr, "dlock-bench: '%s' is not an option\n",
			argv[optind]);
		rc = USAGE;
	}
	if (options.seconds == 0)
		options.seconds = options.check ? 1 : 3;
	return rc;
}

/* ---- Running ------------------------------------------------------------- */

static struct bench_run none = { .bench = &(struct bench){ .name = "start" } };
struct bench_run *run = &none;

/* Measure in a child process.  The child, with workers and servers, dies with
 * this process, in whatever way.  Returns the child's status as of
 * waitpid(2). */
static int measure(void)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		bench_measure();
		exit(GOOD);
	}
	if (pid < 0)
		perror("dlock-bench: fork");
	else
		waitpid(pid, &status, 0);
	return status;
}

static enum verdict run_one(const struct bench *bench)
{
	static const char *const words[] = { "passed", "FAILED", "skipped" };
	enum verdict verdict = PASSED;
	int status;

	*run = (struct bench_run){
		.bench = bench,
		.seconds = options.seconds,
		.check = options.check,
		.json = options.json,
		.pin = !options.no_pin,
		.cpu = -1,
	};
	status = measure();
	if (status != 0 || run->passed < run->judged)
		verdict = FAILED;
	else if (run->skipped || run->emitted == 0)
		verdict = SKIPPED;
	if (run->errors > 0)
		fprintf(stderr, "dlock-bench: %s: %u calls failed\n",
			bench->name, run->errors);
	if (options.check)
		fprintf(options.json ? stderr : stdout, "%s: %s\n",
			words[verdict], bench->name);
	fflush(stdout);
	return verdict;
}

static int run_all(void)
{
	unsigned int count[3] = { 0 };

	if (!options.json)
		bench_emit_head();
	for (const struct bench *b = bench_table; b->name; b++)
		if (wanted(b))
			count[run_one(b)]++;
	if (options.check)
		fprintf(options.json ? stderr : stdout,
			"%u passed, %u failed, %u skipped\n", count[PASSED],
			count[FAILED], count[SKIPPED]);
	return count[FAILED] > 0 ? BAD : GOOD;
}

int main(int argc, char **argv)
{
	int rc = parse(argc, argv);

	if (rc != GOOD || options.help) {
		fputs(help, rc == GOOD ? stdout : stderr);
		return rc;
	}
	if (options.list) {
		for (const struct bench *b = bench_table; b->name; b++)
			printf("%-13s %s\n", b->name, b->summary);
		return GOOD;
	}
	run = bench_shared(sizeof(*run));
	return run_all();
}
