/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The suite without Criterion: conform-plain, and installed as dlock-conform.
 * ThreadSanitizer cannot run Criterion, and a user of dlock need not have
 * Criterion.
 */
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "conform/runner.h"

#define MOST_TIMES 1000000

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

	conform_run(c->name, uri, &out);
	count[out.verdict]++;
	printf("%-4s %s (%lld ms)%s", words[out.verdict], name,
	       (long long)out.took_ms, out.text[0] ? ": " : "\n");
	if (out.text[0])
		printf("%s%s", out.text,
		       out.text[strlen(out.text) - 1] == '\n' ? "" : "\n");
	fflush(stdout);
}

enum { NAME_SIZE = 96 };

/* STORE/CASE */
static void full_name(size_t uri, const struct conform_case *c,
		      char name[NAME_SIZE])
{
	conform_uri_name(uri, name, 24);
	strcat(name, "/");
	strncat(name, c->name, 64);
}

static void run_all(char *patterns[])
{
	char *uri;

	for (size_t u = 0; (uri = conform_uri(u)); u++) {
		for (size_t i = 0; i < n_conform_cases; i++) {
			const struct conform_case *c = &conform_cases[i];
			char name[NAME_SIZE];

			full_name(u, c, name);
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

/* ---- The command line ---------------------------------------------------- */

static const char usage[] =
	"usage: dlock-conform [--backend FILE]... [-l] [-x] [-n TIMES]\n"
	"                     [--face FACE] [URI...] [PATTERN...]\n"
	"Run the conformance suite against the stores of the URIs.\n"
	"\n"
	"  -b, --backend FILE  load the store in this shared object\n"
	"  -f, --face FACE     'async': the asynchronous calls; 'blocking';\n"
	"                      'no-threads': of clients without threads;\n"
	"                      without -f each case runs as written, once\n"
	"  -l, --list          list the cases\n"
	"  -x, --fail-fast     stop at the first case that fails\n"
	"  -n, --times TIMES   run everything so many times\n"
	"\n"
	"{} in a URI becomes a fresh directory for each case.  A word without\n"
	"':' is a pattern, as in '*/mutex_*'; cases that match one, as\n"
	"STORE/CASE, are run.\n"
	"The exit code is 0 if some case passed and none failed.\n";

/* Append `word` to the environment variable. */
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

/* Set $DLOCK_TEST_URIS from the URIs, and return the first pattern. */
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
	if (!face_exists(face)) {
		fprintf(stderr,
			"dlock-conform: unknown face '%s': async, blocking "
			"or no-threads\n",
			face);
		return -1;
	}
	return setenv("CONFORM_FACE", face, 1);
}

static int matches_some_case(char *pattern)
{
	char *one[] = { pattern, NULL };
	char name[NAME_SIZE];
	char *uri;

	for (size_t u = 0; (uri = conform_uri(u)); u++) {
		free(uri);
		for (size_t i = 0; i < n_conform_cases; i++) {
			full_name(u, &conform_cases[i], name);
			if (wanted(name, one))
				return 1;
		}
	}
	return 0;
}

/* Return 0 if each pattern matches a case. */
static int check_patterns(char *patterns[])
{
	for (; *patterns; patterns++) {
		if (matches_some_case(*patterns))
			continue;
		fprintf(stderr, "dlock-conform: no case matches '%s'; ",
			*patterns);
		if (strchr(*patterns, '/'))
			fputs("a pattern is as in '*/mutex_*', and a URI "
			      "begins with a scheme and ':'\n",
			      stderr);
		else
			fprintf(stderr,
				"patterns match STORE/CASE: try '*/%s'\n",
				*patterns);
		return -1;
	}
	return 0;
}

/* The schemes of loaded stores. */
struct schemes {
	int built_in, n;
	int named; /* by a URI */
	char first[32];
};

static void count_scheme(const struct dlock_store *store, void *arg)
{
	(void)store;
	++*(int *)arg;
}

/* The list has loaded stores behind the built-in stores. */
static void note_scheme(const struct dlock_store *store, void *arg)
{
	struct schemes *s = arg;
	size_t len = strlen(store->scheme);
	char *uri;

	if (s->n++ < s->built_in)
		return;
	if (!s->first[0])
		snprintf(s->first, sizeof(s->first), "%s", store->scheme);
	for (size_t u = 0; (uri = conform_uri(u)); u++) {
		s->named |= strncasecmp(uri, store->scheme, len) == 0 &&
			    uri[len] == ':';
		free(uri);
	}
}

/* Return -1 if a store was loaded and no URI names the store. */
static int check_loaded(int built_in)
{
	struct schemes s = { .built_in = built_in };

	dlock_each_store(note_scheme, &s);
	if (!s.first[0] || s.named)
		return 0;
	fprintf(stderr,
		"dlock-conform: %s is loaded, but no URI names its scheme: "
		"add '%s:...'\n",
		getenv("DLOCK_TEST_BACKENDS"), s.first);
	return -1;
}

static int take_times(const char *text, int *times)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end != '\0' || n < 1 || n > MOST_TIMES) {
		fprintf(stderr,
			"dlock-conform: -n wants a number from 1 to %d, not "
			"'%s'\n",
			MOST_TIMES, text);
		return -1;
	}
	*times = (int)n;
	return 0;
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

	/* Options may follow URIs. */
	unsetenv("POSIXLY_CORRECT");
	while ((opt = getopt_long(argc, argv, "b:f:lxn:h", words, NULL)) !=
	       -1) {
		if (opt == 'b' && append("DLOCK_TEST_BACKENDS", ':', optarg))
			return 2;
		if (opt == 'f' && take_face(optarg) != 0)
			return 2;
		if (opt == 'n' && take_times(optarg, times) != 0)
			return 2;
		if (opt == 'l')
			only_list = 1;
		else if (opt == 'x')
			stop_early = 1;
		else if (opt != 'b' && opt != 'f' && opt != 'n') {
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
	int built_in = 0;
	char **patterns;

	dlock_each_store(count_scheme, &built_in);
	/* The process of a case has different options. */
	if (argc < 2 || (strcmp(argv[1], "--case") != 0 &&
			 strcmp(argv[1], "--worker") != 0))
		code = take_options(argc, argv, &times);
	if (code < 0)
		code = conform_main(argc, argv);
	if (code >= 0)
		return code;
	patterns = take_uris(argv + optind);
	if (check_loaded(built_in) != 0 || check_patterns(patterns) != 0)
		return 2;
	while (times-- > 0)
		run_all(patterns);
	if (only_list)
		return 0;
	printf("%d passed, %d failed, %d skipped\n", count[PASSED],
	       count[FAILED], count[SKIPPED]);
	return count[FAILED] > 0 || count[PASSED] == 0;
}
