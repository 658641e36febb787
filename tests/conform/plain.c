/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite without Criterion, which ThreadSanitizer cannot run and a user of
 * dlock need not have: conform-plain, and installed as dlock-conform.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conform/runner.h"

static int count[3];
static int only_list, stop_early;

static int wanted(const char *name, char *patterns[])
{
	if (!patterns[0])
		return 1;
	for (; *patterns; patterns++) {
		if (fnmatch(*patterns, name, 0) == 0)
			return 1;
	}
	return 0;
}

static void run_and_print(const struct conform_case *c, const char *uri,
			  const char *name)
{
	static const char *const words[] = { "ok", "skip", "FAIL" };
	struct outcome out;

	conform_run(c, uri, &out);
	count[out.verdict]++;
	printf("%-4s %s (%lld ms)%s", words[out.verdict], name,
	       (long long)out.took_ms, out.text[0] ? ": " : "\n");
	if (out.text[0])
		printf("%s%s", out.text,
		       out.text[strlen(out.text) - 1] == '\n' ? "" : "\n");
	fflush(stdout);
}

static void run_all(char *patterns[])
{
	char *uri;

	for (size_t u = 0; (uri = conform_uri(u)); u++) {
		for (size_t i = 0; i < n_conform_cases; i++) {
			const struct conform_case *c = &conform_cases[i];
			char name[96];

			conform_uri_name(u, name, 24);
			strcat(name, "/");
			strncat(name, c->name, 64);
			if (!wanted(name, patterns))
				continue;
			if (only_list)
				puts(name);
			else if (!stop_early || count[FAILED] == 0)
				run_and_print(c, uri, name);
		}
		free(uri);
	}
}

static const char usage[] =
	"usage: dlock-conform [--backend FILE]... [-l] [-x] [-n TIMES]\n"
	"                     [--face FACE] [URI...] [PATTERN...]\n"
	"Run the conformance suite against the stores of the URIs.\n"
	"\n"
	"  -b, --backend FILE  load the store in this shared object\n"
	"  -f, --face FACE     'async': the asynchronous calls; 'blocking'\n"
	"  -l, --list          list the cases\n"
	"  -x, --fail-fast     stop at the first case that fails\n"
	"  -n, --times TIMES   run everything so many times\n"
	"\n"
	"{} in a URI becomes a fresh directory for each case.  A word without\n"
	"':' is a pattern; cases that match one, as STORE/CASE, are run.\n"
	"The exit code is 0 if some case passed and none failed.\n";

/* Append `word` to the variable. */
static int append(const char *variable, char between, const char *word)
{
	const char *old = getenv(variable);
	char *all;
	int rc;

	if (old && *old && asprintf(&all, "%s%c%s", old, between, word) < 0)
		return -1;
	rc = setenv(variable, old && *old ? all : word, 1);
	if (old && *old)
		free(all);
	return rc;
}

/* Set $DLOCK_TEST_URIS from the URIs; returns the first pattern. */
static char **take_uris(char *words[])
{
	if (*words && strchr(*words, ':'))
		unsetenv("DLOCK_TEST_URIS");
	for (; *words && strchr(*words, ':'); words++) {
		if (append("DLOCK_TEST_URIS", ' ', *words) != 0)
			exit(2);
	}
	return words;
}

static int take_face(const char *face)
{
	if (strcmp(face, "async") != 0 && strcmp(face, "blocking") != 0) {
		fputs(usage, stderr);
		return -1;
	}
	return setenv("CONFORM_FACE", face, 1);
}

static int take_options(int argc, char *argv[], int *times)
{
	static const struct option words[] = {
		{ "backend", required_argument, NULL, 'b' },
		{ "face", required_argument, NULL, 'f' },
		{ "list", no_argument, NULL, 'l' },
		{ "fail-fast", no_argument, NULL, 'x' },
		{ "times", required_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "b:f:lxn:h", words, NULL)) !=
	       -1) {
		if (opt == 'b' && append("DLOCK_TEST_BACKENDS", ':', optarg))
			return 2;
		if (opt == 'f' && take_face(optarg) != 0)
			return 2;
		if (opt == 'l')
			only_list = 1;
		else if (opt == 'x')
			stop_early = 1;
		else if (opt == 'n')
			*times = atoi(optarg);
		else if (opt != 'b' && opt != 'f') {
			fputs(usage, opt == 'h' ? stdout : stderr);
			return opt == 'h' ? 0 : 2;
		}
	}
	return -1;
}

int main(int argc, char *argv[])
{
	int times = 1;
	int code = -1;
	char **patterns;

	/* A case's process has options of its own. */
	if (argc < 2 || (strcmp(argv[1], "--case") != 0 &&
			 strcmp(argv[1], "--worker") != 0))
		code = take_options(argc, argv, &times);
	if (code < 0)
		code = conform_main(argc, argv);
	if (code >= 0)
		return code;
	patterns = take_uris(argv + optind);
	while (times-- > 0)
		run_all(patterns);
	if (only_list)
		return 0;
	printf("%d passed, %d failed, %d skipped\n", count[PASSED],
	       count[FAILED], count[SKIPPED]);
	return count[FAILED] > 0 || count[PASSED] == 0;
}
