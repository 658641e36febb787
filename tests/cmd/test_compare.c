/* SPDX-License-Identifier: Apache-2.0 */
/* `dlock compare`. */
#include "support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/process.h"
#include "support/wait.h"

#define LONG_MS 100000 /* for the scenarios on a busy machine */

static void begin(void)
{
	world_begin();
	setenv("TMPDIR", file_path("."), 1);
}

TestSuite(compare, .init = begin, .fini = world_end, .timeout = 120);

static struct proc p;
static struct result r;

static struct result compared(int code, const char *const argv[])
{
	start(&p, argv);
	r = finish_within(&p, LONG_MS);
	cr_assert_eq(r.code, code, "%d: %s%s", r.code, r.out, r.err);
	return r;
}

#define COMPARE(code, ...) compared(code, ARGS(NULL, "compare", __VA_ARGS__))
#define TRY "--quick", "--only", "try"

/* Return the command's directory, or "". */
static const char *room(void)
{
	static char path[PATH_MAX];
	const struct dirent *e;
	DIR *d = opendir(".");

	cr_assert(d);
	*path = '\0';
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "dlock-compare-", 14))
			snprintf(path, sizeof(path), "%s", e->d_name);
	closedir(d);
	return path;
}

Test(compare, prints_a_table_that_fits)
{
	COMPARE(0, "--quick", "--only", "try,fair,timed", "--seed", "7",
		"mem:", "file:");
	cr_assert(strstr(r.out, "seed 7"));
	cr_assert(strstr(r.out, " % of the time"));
	cr_assert(has_line(r.out, "try                           kept"));
	cr_assert(strstr(r.out, "refused as declared\n"));
	for (const char *at = r.out; *at;) {
		size_t n = strcspn(at, "\n");

		cr_assert_leq(n, 100, "%.*s", (int)n, at);
		at += n + (at[n] == '\n');
	}
	cr_assert_str_empty(room());
}

Test(compare, takes_the_seed_0)
{
	COMPARE(0, TRY, "--seed", "0", "mem:");
	cr_assert(strstr(r.out, "seed 0"), "%s", r.out);
}

Test(compare, writes_json)
{
	json_t *all, *figure;

	COMPARE(0, "--quick", "--only", "holder-paused,pair", "--json", "-",
		"file:");
	all = parse(r.out);
	cr_assert_eq(json_integer_value(json_object_get(all, "schema")), 1);
	cr_assert_eq(json_array_size(json_object_get(all, "findings")), 2);
	cr_assert_eq(json_array_size(json_object_get(all, "timelines")), 1);
	figure = json_array_get(json_object_get(all, "figures"), 0);
	cr_assert_str_eq(string_at(figure, "id"), "pair");
	cr_assert_eq(json_array_size(json_object_get(figure, "curve")), 61);
	json_decref(all);
}

Test(compare, writes_reports)
{
	write_file("r.html", "an older page\n", 0644);
	COMPARE(0, TRY, "--markdown", "r.md", "--html", "r.html", "mem:");
	cr_assert_eq(strncasecmp(slurp("r.html"), "<!doctype html>", 15), 0);
}

Test(compare, names_the_mistake)
{
	COMPARE(64, NULL);
	COMPARE(64, "--only", "nosuch", "mem:");
	cr_assert(strstr(r.err, "\"nosuch\""), "%s", r.err);
	COMPARE(64, "--only", "", "mem:");
	COMPARE(64, "--seed", "x", "mem:");
	COMPARE(64, "--only", "try", "--json", "-", "--html", "-", "mem:");
	cr_assert_str_empty(r.out);
	COMPARE(74, "--only", "try", "--json", "/nowhere/x", "mem:");
	cr_assert_str_eq(r.err,
			 "dlock: /nowhere/x: No such file or directory\n",
			 "before anything is tried");
}

Test(compare, takes_options_behind_stores)
{
	COMPARE(0, "mem:", TRY);
	cr_assert_null(strstr(r.out, "NOT TRIED"), "%s", r.out);
}

Test(compare, says_by_its_code_that_a_store_was_not_there)
{
	COMPARE(69, TRY, "mem:", "nosuch:");
	cr_assert(strstr(r.out, "NOT TRIED"), "%s", r.out);
}

Test(compare, shows_no_password)
{
	r = DLOCK("compare", "--only", "try", "nosuch://user:geheim@h:1");
	cr_assert_null(strstr(r.out, "geheim"), "%s", r.out);
	cr_assert_null(strstr(r.err, "geheim"), "%s", r.err);
}

Test(compare, keeps_logs)
{
	int files = 0;
	DIR *d;

	COMPARE(0, TRY, "--keep-logs", "logs", "mem:");
	d = opendir("logs/mem.try");
	cr_assert(d);
	while (readdir(d))
		files++;
	closedir(d);
	cr_assert_gt(files, 2, "it is empty");
}

Test(compare, ends_when_it_is_told_to)
{
	int64_t begun;

	START(&p, "compare", "mem:", "file:");
	EVENTUALLY(*room());
	begun = now_ms();
	cr_assert_eq(stop(&p).code, -SIGTERM);
	cr_assert_lt(now_ms() - begun, 10000);
	cr_assert_str_empty(room());
}

/* Only the supervisor can clean up, and runs before the directory is made. */
Test(compare, leaves_no_files_when_killed)
{
	for (int round = 0; round < 8; round++) {
		START(&p, "compare", "--only", "exclusion", "file:");
		EVENTUALLY(*room());
		kill(p.pid, SIGKILL);
		finish(&p);
		EVENTUALLY(!*room());
	}
}

/* Make and remove files in `dir` for a while, like a worker that runs on. */
static void litter(const char *dir)
{
	int64_t until = lab_after_ms(300);
	char path[PATH_MAX + 16];

	for (unsigned i = 0; lab_now() < until; i++) {
		snprintf(path, sizeof(path), "%s/%u", dir, i % 64);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		if (i % 64 == 63)
			unlink(path);
	}
	_exit(0);
}

static int there(void *file)
{
	return access(file, F_OK) == 0;
}

Test(compare, leaves_no_files_though_a_worker_writes)
{
	char dir[PATH_MAX], path[PATH_MAX + 2];
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s", file_path("dlock-compare-XXXXXX"));
	pid = fork();
	if (pid == 0) {
		if (!lab_process_new(dir))
			_exit(1);
		if (fork() == 0)
			litter(dir);
		snprintf(path, sizeof(path), "%s/0", dir);
		lab_wait_until(lab_after_ms(10000), there, path);
		_exit(2);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	EVENTUALLY(!*room());
}
