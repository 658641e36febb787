/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform-plain [-l] [-x] [-n TIMES] [PATTERN...] - the suite without
 * Criterion, which ThreadSanitizer cannot run.  -l lists the cases, -x stops at
 * the first that fails.  A pattern is matched with "store/case".
 */
#include <fnmatch.h>
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

static void run(const struct conform_case *c, const char *uri, const char *name)
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
				run(c, uri, name);
		}
		free(uri);
	}
}

int main(int argc, char *argv[])
{
	int code = conform_main(argc, argv);
	int times = 1, opt;

	if (code >= 0)
		return code;
	while ((opt = getopt(argc, argv, "lxn:")) != -1) {
		if (opt == 'l')
			only_list = 1;
		else if (opt == 'x')
			stop_early = 1;
		else if (opt == 'n')
			times = atoi(optarg);
		else
			return 2;
	}
	while (times-- > 0)
		run_all(argv + optind);
	if (only_list)
		return 0;
	printf("%d passed, %d failed, %d skipped\n", count[PASSED],
	       count[FAILED], count[SKIPPED]);
	return count[FAILED] > 0 || count[PASSED] == 0;
}
