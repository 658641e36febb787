/* SPDX-License-Identifier: Apache-2.0 */
/* `dlock compare`, seen from outside. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/clock.h"
#include "lab/base/process.h"

/* A TMPDIR for each test: tests run side by side. */
static void make_room(void)
{
	static char dir[400];
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%.300s/command-XXXXXX", tmp ? tmp : "/tmp");
	cr_assert(mkdtemp(dir));
	setenv("TMPDIR", dir, 1);
}

TestSuite(command, .init = make_room, .timeout = 120);

static char out[8192];
static char path[512];

/* Run the command with a shell's arguments, standard error included. */
static int run(const char *args, char *out, size_t size)
{
	const char *bin = getenv("DLOCK_BIN");
	char command[2048];
	size_t n;
	FILE *p;

	if (!bin)
		cr_skip_test("there is no dlock command");
	snprintf(command, sizeof(command), "%s compare %s 2>&1 </dev/null", bin,
		 args);
	p = popen(command, "re");
	cr_assert(p);
	n = fread(out, 1, size - 1, p);
	out[n] = '\0';
	return WEXITSTATUS(pclose(p));
}

/* The command has left no directory in TMPDIR. */
static void is_tidy(void)
{
	const char *tmp = getenv("TMPDIR");
	DIR *d = opendir(tmp ? tmp : "/tmp");
	const struct dirent *e;

	cr_assert(d);
	while ((e = readdir(d)))
		cr_assert_neq(strncmp(e->d_name, "dlock-compare-", 14), 0,
			      "%s was left", e->d_name);
	closedir(d);
}

Test(command, prints_a_table_that_fits)
{
	static char out[65536];
	int code = run("--quick --only try,fair,timed --seed 7 mem: file:", out,
		       sizeof(out));

	cr_assert_eq(code, 0, "%d: %s", code, out);
	cr_assert(strstr(out, "seed 7"));
	cr_assert(strstr(out, " % of the time"));
	cr_assert(strstr(out, "\ntry                           kept"));
	cr_assert(strstr(out, "refused as declared\n"));
	for (const char *at = out; *at;) {
		size_t n = strcspn(at, "\n");

		cr_assert_leq(n, 100, "%.*s", (int)n, at);
		at += n + (at[n] == '\n');
	}
	is_tidy();
}

Test(command, takes_the_seed_0)
{
	char out[16384];

	cr_assert_eq(run("--quick --only try --seed 0 mem:", out, sizeof(out)),
		     0);
	cr_assert(strstr(out, "seed 0"), "%s", out);
}

Test(command, writes_json)
{
	static char out[262144];
	int code = run("--quick --only holder-paused,pair --json - file:", out,
		       sizeof(out));
	json_error_t error;
	json_t *all = json_loads(out, 0, &error);
	json_t *figure, *curve;

	cr_assert_eq(code, 0, "%s", out);
	cr_assert(all, "%s: %s", error.text, out);
	cr_assert_eq(json_integer_value(json_object_get(all, "schema")), 1);
	cr_assert_eq(json_array_size(json_object_get(all, "findings")), 2);
	cr_assert_eq(json_array_size(json_object_get(all, "timelines")), 1);
	figure = json_array_get(json_object_get(all, "figures"), 0);
	curve = json_object_get(figure, "curve");
	cr_assert_str_eq(json_string_value(json_object_get(figure, "id")),
			 "pair");
	cr_assert_eq(json_array_size(curve), 61);
	json_decref(all);
}

Test(command, writes_reports)
{
	char line[256];
	FILE *page;

	snprintf(line, sizeof(line), "%.200s/r.html", getenv("TMPDIR"));
	page = fopen(line, "we");
	cr_assert(page && fputs("an older page\n", page) >= 0);
	fclose(page);
	cr_assert_eq(run("--quick --only try --markdown \"$TMPDIR/r.md\" "
			 "--html \"$TMPDIR/r.html\" mem:",
			 out, sizeof(out)),
		     0, "%s", out);
	page = fopen(line, "re");
	cr_assert(page);
	cr_assert(fgets(line, sizeof(line), page));
	cr_assert_eq(strncasecmp(line, "<!doctype html>", 15), 0);
	fclose(page);
}

Test(command, names_the_mistake)
{
	char out[4096];

	cr_assert_eq(run("", out, sizeof(out)), 64);
	cr_assert_eq(run("--only nosuch mem:", out, sizeof(out)), 64);
	cr_assert(strstr(out, "\"nosuch\""), "%s", out);
	cr_assert_eq(run("--seed x mem:", out, sizeof(out)), 64);
	cr_assert_eq(run("--only try --json /nowhere/x mem:", out, sizeof(out)),
		     74);
	cr_assert_str_eq(out, "dlock: /nowhere/x: No such file or directory\n",
			 "before anything is tried");
}

Test(command, takes_options_behind_stores)
{
	cr_assert_eq(run("mem: --quick --only try", out, sizeof(out)), 0, "%s",
		     out);
	cr_assert_null(strstr(out, "NOT TRIED"), "%s", out);
}

Test(command, says_by_its_code_that_a_store_was_not_there)
{
	cr_assert_eq(run("--quick --only try mem: nosuch:", out, sizeof(out)),
		     69, "%s", out);
	cr_assert(strstr(out, "NOT TRIED"), "%s", out);
}

Test(command, shows_no_password)
{
	run("--only try nosuch://user:geheim@h:1", out, sizeof(out));
	cr_assert_null(strstr(out, "geheim"), "%s", out);
}

Test(command, keeps_logs)
{
	int files = 0;
	DIR *d;

	cr_assert_eq(run("--quick --only try --keep-logs \"$TMPDIR/logs\" mem:",
			 out, sizeof(out)),
		     0, "%s", out);
	snprintf(out, sizeof(out), "%s/logs/mem.try", getenv("TMPDIR"));
	d = opendir(out);
	cr_assert(d, "there is no %s", out);
	while (readdir(d))
		files++;
	closedir(d);
	cr_assert_gt(files, 2, "it is empty");
}

/* Find the command's directory; "" without one. */
static void find_room(const char *tmp, char *path, size_t size)
{
	DIR *d = opendir(tmp);
	const struct dirent *e;

	*path = '\0';
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, "dlock-compare-", 14))
			snprintf(path, size, "%.200s/%.200s", tmp, e->d_name);
	closedir(d);
}

/* Wait for the directory: the command is at work. */
static void await_room(const char *tmp, char *path, size_t size)
{
	int64_t deadline = lab_after_ms(10000);

	do
		find_room(tmp, path, size);
	while (!*path && lab_now() < deadline);
	cr_assert(*path, "it has no directory");
}

/* Start `dlock compare` with a shell's arguments; the directory is `path`. */
static pid_t begin(const char *args, char *path, size_t size)
{
	const char *bin = getenv("DLOCK_BIN");
	char command[600];
	pid_t pid;

	if (!bin)
		cr_skip_test("there is no dlock command");
	snprintf(command, sizeof(command), "exec %s compare %s >/dev/null", bin,
		 args);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	await_room(getenv("TMPDIR"), path, size);
	return pid;
}

Test(command, ends_when_it_is_told_to)
{
	pid_t pid = begin("mem: file:", path, sizeof(path));
	int64_t begun = lab_now();
	int status;

	kill(pid, SIGTERM);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
		  "status %x", status);
	cr_assert_lt(lab_now() - begun, 10000 * LAB_MS);
	is_tidy();
}

static int gone(void *dir)
{
	return access(dir, F_OK) < 0;
}

static int there(void *file)
{
	return access(file, F_OK) == 0;
}

/* Only the supervisor can clean up, and runs before the directory is made. */
Test(command, leaves_no_files_when_killed)
{
	for (int round = 0; round < 8; round++) {
		pid_t pid = begin("--only exclusion file:", path, sizeof(path));

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		cr_assert(lab_wait_until(lab_after_ms(10000), gone, path),
			  "%s was left", path);
	}
}

/* Make and remove files in `dir` for a while, like a worker that runs on. */
static void litter(const char *dir)
{
	int64_t until = lab_after_ms(300);
	char path[600];

	for (unsigned i = 0; lab_now() < until; i++) {
		snprintf(path, sizeof(path), "%s/%u", dir, i % 64);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		if (i % 64 == 63)
			unlink(path);
	}
	_exit(0);
}

Test(command, leaves_no_files_though_a_worker_writes)
{
	pid_t pid;

	snprintf(path, sizeof(path), "%.400s/dlock-compare-XXXXXX",
		 getenv("TMPDIR"));
	pid = fork();
	if (pid == 0) {
		if (!lab_process_new(path))
			_exit(1);
		if (fork() == 0)
			litter(path);
		snprintf(path + strlen(path), 3, "/0");
		lab_wait_until(lab_after_ms(10000), there, path);
		_exit(2);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	find_room(getenv("TMPDIR"), path, sizeof(path));
	cr_assert(lab_wait_until(lab_after_ms(10000), gone, path),
		  "%s was left", path);
}
