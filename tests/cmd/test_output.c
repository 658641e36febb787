/* SPDX-License-Identifier: Apache-2.0 */
/* Output: escaped for people, JSON for programs. */
#include "support.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TestSuite(output, .init = world_begin, .fini = world_end, .timeout = 60);

static struct proc holder, waiter, a;
static struct result r;

Test(output, of_show_tells_holders_and_waiters)
{
	json_t *all, *list, *one;

	HOLD(&holder, "n", "--label", "the holder");
	START(&waiter, "run", "-v", "-s", "n", "--", "/bin/true");
	await_error(&waiter, "dlock: waiting for");
	r = OK("show", "n");
	cr_expect(has_line(r.out, "holds  exclusive  "), "%s", r.out);
	cr_expect(strstr(r.out, "the holder\n"), "%s", r.out);
	all = parse(OK("show", "--json", "n").out);
	cr_expect_str_eq(string_at(all, "name"), "n");
	cr_expect_str_eq(string_at(all, "kind"), "lock");
	list = json_object_get(all, "participants");
	cr_assert_geq(json_array_size(list), 1);
	one = json_array_get(list, 0);
	cr_expect_str_eq(string_at(one, "state"), "holds");
	cr_expect_str_eq(string_at(one, "side"), "exclusive");
	cr_expect_str_eq(string_at(one, "label"), "the holder");
	cr_expect_gt(json_integer_value(json_object_get(one, "token")), 0);
	stop(&holder);
	cr_expect_eq(finish(&waiter).code, 0);
	r = DLOCK("show", "n");
	cr_expect_eq(r.code, 1);
	cr_expect_str_eq(r.out, "free\n");
	cr_expect_str_empty(r.err);
	cr_expect_eq(DLOCK("show", "--json", "n").code, 1);
	json_decref(all);
}

/* The lock and the semaphore of a name are two objects, and dlock tells so. */
Test(output, tells_of_the_namesake)
{
	HOLD(&holder, "n", "--label", "a permit", "-S", "3");
	r = OK("show", "n");
	cr_expect(has_line(r.out, "holds  permit  "), "%s", r.out);
	cr_expect(strstr(r.out, "a permit\n"), "%s", r.out);
	cr_expect(has_line(r.out, "permits: limit 3, 2 free\n"), "%s", r.out);
	r = DLOCK("run", "-v", "n", "/bin/true");
	expect_says(r, 0, "the semaphore \"n\" is in use, too");
	r = DLOCK("break", "-y", "n");
	expect_says(r, 1,
		    "the semaphore of that name is held: "
		    "use -S PERMITS");
	r = OK("break", "-y", "-S", "3", "n");
	stop(&holder);
	HOLD(&holder, "n", NULL);
	cr_expect_eq(DLOCK("show", "-S", "3", "n").code, 1);
	r = DLOCK("run", "-v", "-S", "3", "n", "/bin/true");
	cr_expect(strstr(r.err, "the lock \"n\" is in use, too"), "%s", r.err);
	r = DLOCK("break", "-y", "-S", "3", "n");
	expect_says(r, 1, "held: leave out -S");
	stop(&holder);
}

Test(output, of_show_tells_since_when)
{
	int64_t before = (int64_t)time(NULL), after;
	struct tm tm = { .tm_isdst = -1 };
	json_t *all, *one;
	const char *since;
	char *at;

	HOLD(&holder, "n", NULL);
	after = (int64_t)time(NULL);
	at = strstr(DLOCK("show", "n").out, "exclusive  ");
	cr_assert(at);
	cr_assert(strptime(at + strlen("exclusive  "), "%Y-%m-%d %H:%M:%S ",
			   &tm),
		  "%s", at);
	cr_expect(mktime(&tm) >= before && mktime(&tm) <= after, "%s", at);
	all = parse(DLOCK("show", "--json", "n").out);
	one = json_array_get(json_object_get(all, "participants"), 0);
	since = string_at(one, "since");
	memset(&tm, 0, sizeof(tm));
	at = strptime(since, "%Y-%m-%dT%H:%M:%S", &tm);
	cr_assert(at && *at == '.' && strlen(at) == 5 && at[4] == 'Z', "%s",
		  since);
	cr_expect(timegm(&tm) >= before && timegm(&tm) <= after, "%s", since);
	json_decref(all);
	stop(&holder);
}

static json_int_t permits_at(const json_t *all, const char *key)
{
	return json_integer_value(
		json_object_get(json_object_get(all, "permits"), key));
}

Test(output, of_show_tells_how_many_permits_are_free)
{
	struct proc a, b;
	json_t *all;

	HOLD(&a, "n", "-S", "2");
	all = parse(DLOCK("show", "--json", "-S", "2", "n").out);
	cr_expect_eq(permits_at(all, "limit"), 2);
	cr_expect_eq(permits_at(all, "held"), 1);
	cr_expect_eq(permits_at(all, "free"), 1);
	json_decref(all);
	HOLD(&b, "n", "-S", "2");
	cr_expect(has_line(DLOCK("show", "-S", "2", "n").out,
			   "permits: limit 2, 0 free\n"));
	stop(&a);
	stop(&b);
	cr_expect_str_eq(DLOCK("show", "-S", "2", "n").out, "free\n");
	all = parse(DLOCK("show", "--json", "-S", "2", "n").out);
	cr_expect(json_is_null(json_object_get(all, "permits")));
	json_decref(all);
}

Test(output, of_show_tells_how_many_permits_a_holder_has)
{
	OK("run", "-S", "3", "--take", "1", "n", "true");
	OK("run", "-S", "3", "--take", "2", "n", "true");
	HOLD(&a, "n", "-S", "3", "--take", "2");
	r = DLOCK("show", "n");
	cr_expect(has_line(r.out, "holds  2 permits  "), "%s", r.out);
	cr_expect(has_line(r.out, "permits: limit 3, 1 free\n"), "%s", r.out);
	r = DLOCK("run", "-n", "-S", "3", "--take", "2", "n", "true");
	cr_expect_eq(r.code, 1, "%d %s", r.code, r.err);
	cr_expect_eq(DLOCK("run", "-n", "-S", "3", "n", "true").code, 0);
	stop(&a);
}

Test(output, of_permits_tells_and_changes_their_number)
{
	json_t *all;

	r = DLOCK("permits", "n");
	expect_says(r, 1, "nobody uses the semaphore \"n\"");
	cr_expect_eq(DLOCK("permits", "n", "3").code, 1);
	HOLD(&a, "n", "-S", "2");
	cr_expect_str_eq(DLOCK("permits", "n").out, "limit 2, 1 free\n");
	r = OK("permits", "n", "3");
	cr_expect_str_eq(r.out, "limit 3, 2 free\n");
	all = parse(DLOCK("permits", "--json", "n").out);
	cr_expect_eq(json_integer_value(json_object_get(all, "limit")), 3);
	json_decref(all);
	/* The set number replaces the users' numbers. */
	cr_expect_str_eq(DLOCK("permits", "n", "1").out, "limit 1, 0 free\n");
	cr_expect_eq(DLOCK("run", "-n", "-S", "2", "n", "true").code, 1);
	stop(&a);
	cr_expect_eq(DLOCK("run", "-n", "-S", "2", "n", "true").code, 0);
}

/* The default label names the command. */
Test(output, of_show_tells_what_runs)
{
	char pid[32];

	HOLD(&holder, "n", NULL);
	snprintf(pid, sizeof(pid), ":%d sigchild\n", (int)holder.pid);
	r = DLOCK("show", "n");
	cr_expect(strstr(r.out, pid), "no %s in %s", pid, r.out);
	/* Arguments may be secrets. */
	cr_expect_null(strstr(r.out, "leave"));
	stop(&holder);
	set_parameter("label=chosen");
	HOLD(&holder, "n", NULL);
	r = DLOCK("show", "n");
	cr_expect(strstr(r.out, "  chosen\n"), "%s", r.out);
	stop(&holder);
}

Test(output, escapes_what_could_steer_a_terminal)
{
	struct proc p, q;
	json_t *all;

	HOLD(&p, "n", "--label",
	     "a\033[2Jb\nc\x7f\xc2\x9b"
	     "d");
	r = DLOCK("show", "n");
	cr_expect(strstr(r.out, "a\\x1b[2Jb\\x0ac\\x7f\\xc2\\x9bd\n"), "%s",
		  r.out);
	cr_expect_null(strchr(r.out, 033));
	r = DLOCK("r\xc3\xa4tsel\xe2\x82\xac\xf0\x9f\x94\x92\033[2J\r");
	cr_expect(strstr(r.err, "r\xc3\xa4tsel\xe2\x82\xac\xf0\x9f\x94\x92"
				"\\x1b[2J\\x0d"),
		  "%s", r.err);
	cr_expect_null(strchr(r.err, 033));
	/* Right to left, a new line, and the mark of a file. */
	r = DLOCK("x\xe2\x80\xaey\xe2\x80\xa8\xef\xbb\xbf");
	cr_expect(strstr(r.err, "x\\xe2\\x80\\xaey\\xe2\\x80\\xa8"
				"\\xef\\xbb\\xbf"),
		  "%s", r.err);
	HOLD(&q, "m", "--label", "\xff\xc0\xaf");
	all = parse(DLOCK("show", "--json", "m").out);
	json_decref(all);
	stop(&p);
	stop(&q);
}

Test(output, of_a_waiter_tells_who_holds_the_lock)
{
	struct proc holder, waiter, quiet;

	HOLD(&holder, "n", "--label", "the holder");
	START(&waiter, "run", "-v", "n", "--", "/bin/true");
	START(&quiet, "run", "n", "--", "/bin/true");
	await_error(&waiter,
		    "dlock: waiting for \"n\", held by the holder for ");
	set_parameter("ask=10s");
	r = DLOCK("run", "-v", "-n", "n", "--", "/bin/true");
	expect_says(r, 1, "'n': held by the holder\n");
	stop(&holder);
	r = finish(&waiter);
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	/* The time is in whole seconds. */
	cr_expect(strstr(r.err, " s\n"), "%s", r.err);
	r = finish(&quiet);
	cr_expect_eq(r.code, 0);
	cr_expect_str_empty(r.err);
}

Test(output, of_a_waiter_counts_the_holders)
{
	struct proc a, b, waiter;

	HOLD(&a, "n", "-s", "--label", "one of them");
	HOLD(&b, "n", "-s", "--label", "one of them");
	START(&waiter, "hold", "-v", "n");
	await_error(&waiter, "dlock: waiting for \"n\", held by one of them ");
	cr_expect(strstr(errors(&waiter), " and 1 other\n"));
	cr_expect_eq(stop(&waiter).code, -SIGTERM);
	stop(&a);
	stop(&b);
}

/* The store does not tell the holder. */
Test(output, of_a_waiter_tells_how_long_it_waits)
{
	struct proc p;

	setenv("DLOCK_BACKENDS", module("busy"), 1);
	START(&p, "run", "-v", "-u", "module-busy:", "n", "/bin/true");
	await_error(&p, "dlock: waiting for \"n\" for ");
	cr_expect(strstr(errors(&p), " s\n"));
	cr_expect_eq(stop(&p).code, -SIGTERM);
}

Test(output, of_backends_knows_every_scheme)
{
	static const char *const schemes[] = { "mem", "file", "zk", "redis",
					       "memcached" };
	json_t *all = parse(DLOCK("backends", "--json").out);

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		struct result r = DLOCK("backends", "--json", schemes[i]);
		json_t *one = parse(r.out), *entry;
		size_t at;
		int found = 0;

		cr_expect_eq(r.code, 0);
		cr_expect_str_eq(string_at(one, "scheme"), schemes[i]);
		cr_expect(json_is_array(json_object_get(one, "params")));
		json_array_foreach(all, at, entry) found |=
			!strcmp(string_at(entry, "scheme"), schemes[i]);
		cr_expect(found, "%s is not listed", schemes[i]);
		json_decref(one);
	}
	json_decref(all);
}

Test(output, of_backends_shows_the_parameters)
{
	struct result r = DLOCK("backends", "file");

	cr_expect_eq(r.code, 0);
	cr_expect(has_line(r.out, "SCHEME "), "%s", r.out);
	cr_expect(has_line(r.out, "file "), "%s", r.out);
	cr_expect(has_line(r.out, "PARAMETER "), "%s", r.out);
	cr_expect(has_line(r.out, "ttl "), "%s", r.out);
}
