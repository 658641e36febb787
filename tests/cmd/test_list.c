/* SPDX-License-Identifier: Apache-2.0 */
/* The list of locks: for people, as JSON, as metrics. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

TestSuite(list, .init = world_begin, .fini = world_end, .timeout = 60);

/* Keep released locks in the list. */
static void keep_files(void)
{
	set_parameter("keep_file=on");
}

Test(list, is_sorted)
{
	struct result r;
	json_t *all;

	keep_files();
	DLOCK("run", "zebra", "/bin/true");
	DLOCK("run", "ape", "/bin/true");
	DLOCK("run", "-S", "3", "mouse", "/bin/true");
	r = OK("list");
	cr_expect(strstr(r.out, "KIND"), "%s", r.out);
	cr_expect(strstr(r.out, "ape") < strstr(r.out, "mouse"), "%s", r.out);
	cr_expect(strstr(r.out, "mouse") < strstr(r.out, "zebra"), "%s", r.out);
	all = parse(OK("list", "--json").out);
	cr_expect(json_is_array(all));
	json_decref(all);
}

Test(list, can_tell_the_holders)
{
	struct proc a, b, waiter;
	struct result r;
	json_t *all, *entry;

	keep_files();
	HOLD(&a, "mouse", "--label", "the one", "-S", "3");
	HOLD(&b, "mouse", "--label", "the other", "-S", "3");
	DLOCK("run", "ape", "/bin/true");
	HOLD(&waiter, "zebra", NULL);
	r = OK("list", "-l");
	cr_expect(has_line(r.out, "KIND       PERMITS  NAME   SINCE "), "%s",
		  r.out);
	cr_expect(has_line(r.out, "lock       -        ape    -  "), "%s",
		  r.out);
	cr_expect(has_line(r.out, "semaphore  3        mouse  20"), "%s",
		  r.out);
	cr_expect(strstr(r.out, "  0        the one\n"), "%s", r.out);
	cr_expect(strstr(r.out, "  0        the other\n"), "%s", r.out);
	cr_expect(has_line(r.out, "lock       -        zebra  20"), "%s",
		  r.out);
	cr_expect_null(strstr(DLOCK("list").out, "the one"));
	all = parse(DLOCK("list", "--long", "--json").out);
	cr_assert_eq(json_array_size(all), 3);
	entry = json_object_get(json_array_get(all, 1), "participants");
	cr_expect_eq(json_array_size(entry), 2);
	entry = json_object_get(json_array_get(all, 0), "participants");
	cr_expect_eq(json_array_size(entry), 0);
	json_decref(all);
	stop(&a);
	stop(&b);
	stop(&waiter);
}

/* Return whether a lock has this metric. `name` is escaped as in metrics. */
static int has_sample(const char *metrics, const char *metric, const char *name,
		      const char *kind, int value)
{
	char line[200];

	snprintf(line, sizeof(line),
		 "dlock_lock_%s{name=\"%s\",kind=\"%s\"} %d\n", metric, name,
		 kind, value);
	return has_line(metrics, line);
}

Test(list, may_be_metrics)
{
	struct proc holder;
	struct result r;
	const char *held;

	keep_files();
	DLOCK("run", "a\"b\\c", "/bin/true");
	HOLD(&holder, "mouse", "-S", "3");
	r = DLOCK("list", "--metrics");
	cr_assert_eq(r.code, 0, "%d %s", r.code, r.err);
	cr_expect(has_line(r.out, "# TYPE dlock_lock_holders gauge\n"));
	cr_expect(has_sample(r.out, "holders", "mouse", "semaphore", 1), "%s",
		  r.out);
	cr_expect(has_sample(r.out, "waiters", "mouse", "semaphore", 0), "%s",
		  r.out);
	cr_expect(has_sample(r.out, "permits", "mouse", "semaphore", 3), "%s",
		  r.out);
	cr_expect(has_sample(r.out, "permits_free", "mouse", "semaphore", 2),
		  "%s", r.out);
	cr_expect(has_sample(r.out, "holders", "a\\\"b\\\\c", "lock", 0), "%s",
		  r.out);
	/* A free lock has no time, and a lock has no permits. */
	cr_expect_null(strstr(r.out, "dlock_lock_permits{name=\"a"));
	cr_expect_null(strstr(r.out, "dlock_lock_held_seconds{name=\"a"));
	held = strstr(r.out, "\ndlock_lock_held_seconds{name=\"mouse\","
			     "kind=\"semaphore\"} ");
	cr_assert(held, "%s", r.out);
	cr_expect_lt(strtod(strchr(held, '}') + 1, NULL), 60);
	stop(&holder);
}

/* Have the next token say that its time is half a minute from now. */
static void set_clock_ahead(void)
{
	uint64_t token = (uint64_t)(time(NULL) + 30) * 1000000;
	uint64_t floor[] = { token, ~token };
	FILE *f;

	cr_assert(mkdir(lock_dir(), 0700) == 0);
	f = fopen(file_path("locks/dlock.~floor"), "wxe");
	cr_assert(f && fwrite(floor, sizeof(floor), 1, f) == 1 &&
		  fclose(f) == 0);
	cr_assert(chmod(file_path("locks/dlock.~floor"), 0600) == 0);
}

/* The clock that the token follows may be ahead of ours. */
Test(list, has_no_hold_that_begins_later)
{
	struct proc holder;
	struct result r;

	set_clock_ahead();
	HOLD(&holder, "n", NULL);
	r = OK("list", "--metrics");
	cr_expect(has_sample(r.out, "held_seconds", "n", "lock", 0), "%s",
		  r.out);
	stop(&holder);
}

Test(list, counts_the_waiters)
{
	struct proc holder, waiter;

	HOLD(&holder, "n", NULL);
	START(&waiter, "run", "n", "--", "/bin/true");
	EVENTUALLY(strstr(DLOCK("list", "-l").out, "  1        "));
	stop(&holder);
	cr_expect_eq(finish(&waiter).code, 0);
}
