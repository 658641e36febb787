/* SPDX-License-Identifier: Apache-2.0 */
/* dlock-conform: a mistake on the command line must not look like a pass. */
#include "support.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(conform, .init = world_begin, .fini = world_end, .timeout = 60);

/* Return the path of dlock-conform, beside dlock. */
static const char *conform(void)
{
	static char path[PATH_MAX];
	const char *dlock = getenv("DLOCK_BIN");
	const char *slash = strrchr(dlock, '/');

	snprintf(path, sizeof(path), "%.*s/dlock-conform", (int)(slash - dlock),
		 dlock);
	return path;
}

#define CONFORM(...) run(ARGS(conform(), __VA_ARGS__))

static void refused(struct result r, const char *says)
{
	cr_assert_eq(r.code, 2, "%d: %s%s", r.code, r.out, r.err);
	cr_assert(strstr(r.err, says), "%s", r.err);
	cr_assert(!strstr(r.out, "passed"), "%s", r.out);
}

Test(conform, a_loaded_store_that_no_uri_names)
{
	const char *good = module("good");

	refused(CONFORM("--backend", good, "*/mutex_try"),
		"good.so is loaded, but no URI names its scheme: add "
		"'module-good:...'");
	refused(CONFORM("--backend", good, "mem:", "*/mutex_try"),
		"add 'module-good:...'");
	cr_assert_eq(CONFORM("--backend", good, "module-good:", "-l").code, 0);
}

Test(conform, a_pattern_that_matches_no_case)
{
	struct result r = CONFORM("mem:", "*/stats_count");

	cr_assert_eq(r.code, 0, "%s%s", r.out, r.err);
	cr_assert(strstr(r.out, "1 passed, 0 failed"), "%s", r.out);
	refused(CONFORM("mem:", "mutex_try"),
		"no case matches 'mutex_try'; patterns match STORE/CASE: try "
		"'*/mutex_try'");
	refused(CONFORM("mem:", "*/stats_count", "{}/l.db"),
		"no case matches '{}/l.db'; a pattern is as in '*/mutex_*', "
		"and a URI begins with a scheme and ':'");
}

Test(conform, an_option_behind_a_uri)
{
	setenv("POSIXLY_CORRECT", "1", 1);
	cr_assert_eq(CONFORM("mem:", "-l").code, 0);
}

Test(conform, an_unknown_face)
{
	struct result r = CONFORM("-f", "nonsense", "mem:");

	refused(r, "unknown face 'nonsense': async, blocking or no-threads");
	cr_assert(!strstr(r.err, "usage"), "%s", r.err);
}

Test(conform, a_number_of_times_that_is_none)
{
	static const char *const bad[] = {
		"0", "-1", "x", "", "2x", "99999999999999999999",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		refused(CONFORM("-n", bad[i], "mem:", "*/stats_count"),
			"-n wants a number from 1 to 1000000");
}

Test(conform, the_help)
{
	struct result r = CONFORM("--help");

	cr_assert_eq(r.code, 0);
	cr_assert(strstr(r.out, "each case runs as written, once"), "%s",
		  r.out);
	cr_assert(strstr(r.out, "as in '*/mutex_*'"), "%s", r.out);
}
