/* SPDX-License-Identifier: Apache-2.0 */
/* Stores in shared objects: --backend and $DLOCK_BACKENDS. */
#include "support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(modules, .init = world_begin, .fini = world_end, .timeout = 60);

static void ran(struct result r)
{
	cr_assert_eq(r.code, 0, "%d: %s", r.code, r.err);
	cr_assert_str_eq(r.out, "held\n");
}

Test(modules, are_loaded_by_the_option)
{
	const char *good = module("good");

	cr_assert_eq(DLOCK("run", "-u", "module-good:", "n", "true").code, 64);
	ran(DLOCK("run", "--backend", good, "-u", "module-good:", "n", "echo",
		  "held"));
	ran(DLOCK("--backend", good, "run", "-u", "module-good:", "n", "echo",
		  "held"));
}

Test(modules, are_loaded_by_the_environment)
{
	char list[8192];
	struct result r;

	snprintf(list, sizeof(list), ":%s:%s", module("good"), module("good"));
	setenv("DLOCK_BACKENDS", list, 1);
	ran(DLOCK("run", "-u", "module-good:", "n", "echo", "held"));
	r = DLOCK("backends");
	cr_assert_eq(r.code, 0);
	cr_assert(strstr(r.out, "module-good"), "%s", r.out);
	setenv("DLOCK_BACKENDS", module("none"), 1);
	r = DLOCK("backends");
	cr_assert_eq(r.code, 64);
	cr_assert(strstr(r.err, "DLOCK_MODULE()"), "%s", r.err);
}

/* The workers of a comparison open the store; this one excludes nobody. */
Test(modules, are_loaded_by_the_workers_of_a_comparison)
{
	struct result r = DLOCK("compare", "--quick", "--only", "try",
				"--backend", module("good"), "module-good:");

	cr_assert_eq(r.code, 2, "%d: %s%s", r.code, r.out, r.err);
}

/* $DLOCK_URI is the command's, too. */
Test(modules, are_passed_on_to_the_command)
{
	cr_assert(symlink(module("good"), "good.so") == 0);
	ran(DLOCK("run", "--backend=good.so", "-u", "module-good:", "n", "-c",
		  "cd / && \"$DLOCK_BIN\" run n echo held"));
}

/* $DLOCK_BACKENDS has a ':' between two paths. */
Test(modules, with_a_colon_in_the_path_are_not_passed_on)
{
	struct result r;

	run(ARGS("/bin/cp", module("good"), "a:b.so"));
	OK("--backend", "a:b.so", "backends");
	r = DLOCK("run", "--backend", "a:b.so", "-u", "module-good:", "n",
		  "true");
	cr_assert_eq(r.code, 64, "%d: %s", r.code, r.err);
	cr_assert(strstr(r.err, "/a:b.so: $DLOCK_BACKENDS"), "%s", r.err);
}

Test(modules, are_not_loaded_for_a_help)
{
	setenv("DLOCK_BACKENDS", "/no/such.so", 1);
	OK("help");
	OK("--version");
	OK("run", "--help");
}
