/* SPDX-License-Identifier: Apache-2.0 */
/* What is printed: escaped for people, JSON for programs. */
#include "support.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

TestSuite(output, .init = world_begin, .fini = world_end, .timeout = 60);

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);

	cr_assert(value, "%s in: %s", error.text, text);
	return value;
}

static const char *string_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "(none)";
}

Test(output, of_show_tells_holders_and_waiters)
{
	const char *const label[] = { "--label", "the holder", NULL };
	struct proc holder, waiter;
	struct result r;
	json_t *all, *list, *one;

	start_sigchild(&holder, file_path("holder"), "leave", "n", label);
	START(&waiter, "run", "-v", "-s", "n", "--", "/bin/true");
	await_error(&waiter, "dlock: waiting for");
	r = DLOCK("show", "n");
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	cr_expect(has_line(r.out, "holds  exclusive  "), "%s", r.out);
	cr_expect(strstr(r.out, "the holder\n"), "%s", r.out);
	all = parse(DLOCK("show", "--json", "n").out);
	cr_expect_str_eq(string_at(all, "name"), "n");
	cr_expect_str_eq(string_at(all, "kind"), "rwlock");
	list = json_object_get(all, "parties");
	cr_assert_geq(json_array_size(list), 1);
	one = json_array_get(list, 0);
	cr_expect_str_eq(string_at(one, "state"), "holds");
	cr_expect_str_eq(string_at(one, "side"), "exclusive");
	cr_expect_str_eq(string_at(one, "label"), "the holder");
	cr_expect_gt(json_integer_value(json_object_get(one, "token")), 0);
	kill(holder.pid, SIGTERM);
	finish(&holder);
	cr_expect_eq(finish(&waiter).code, 0);
	cr_expect_str_eq(DLOCK("show", "n").out, "free\n");
	cr_expect_str_eq(DLOCK("show", "-m", "n").out, "free\n");
	json_decref(all);
}

Test(output, escapes_what_could_steer_a_terminal)
{
	const char *const label[] = { "--label",
				      "a\033[2Jb\nc\x7f\xc2\x9b"
				      "d",
				      NULL };
	const char *const strange[] = { "--label", "\xff\xc0\xaf", NULL };
	struct proc p, q;
	struct result r;
	json_t *all;

	start_sigchild(&p, file_path("p"), "leave", "n", label);
	r = DLOCK("show", "n");
	cr_expect(strstr(r.out, "a\\x1b[2Jb\\x0ac\\x7f\\xc2\\x9bd\n") ||
			  r.code != 0,
		  "%s", r.out);
	cr_expect_null(strchr(r.out, 033));
	r = DLOCK("no\033[2Jsuch\r");
	cr_expect(strstr(r.err, "no\\x1b[2Jsuch\\x0d"), "%s", r.err);
	cr_expect_null(strchr(r.err, 033));
	start_sigchild(&q, file_path("q"), "leave", "m", strange);
	all = parse(DLOCK("show", "--json", "m").out);
	json_decref(all);
	kill(p.pid, SIGTERM);
	kill(q.pid, SIGTERM);
	finish(&p);
	finish(&q);
}

Test(output, keeps_what_is_not_ascii)
{
	struct result r = DLOCK("r\xc3\xa4tsel\xe2\x82\xac\xf0\x9f\x94\x92");

	cr_expect(strstr(r.err, "r\xc3\xa4tsel\xe2\x82\xac\xf0\x9f\x94\x92"),
		  "%s", r.err);
}

Test(output, of_list_is_sorted_or_refused)
{
	struct result r, json;
	json_t *all;

	DLOCK("run", "zebra", "/bin/true");
	DLOCK("run", "-m", "ape", "/bin/true");
	DLOCK("run", "-S", "3", "mouse", "/bin/true");
	r = DLOCK("list");
	json = DLOCK("list", "--json");
	cr_expect_eq(json.code, r.code);
	if (r.code == 78) {
		cr_expect_str_not_empty(r.err);
		return;
	}
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	cr_expect(strstr(r.out, "KIND"), "%s", r.out);
	cr_expect(strstr(r.out, "ape") < strstr(r.out, "mouse"), "%s", r.out);
	cr_expect(strstr(r.out, "mouse") < strstr(r.out, "zebra"), "%s", r.out);
	all = parse(json.out);
	cr_expect(json_is_array(all));
	json_decref(all);
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
