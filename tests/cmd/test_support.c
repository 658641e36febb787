/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/temp.h"

static char dir[PATH_MAX];
static int started;

/* Programs started by nohup or in the background ignore some signals. */
static void hear_signals(void)
{
	static const int heard[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

	for (size_t i = 0; i < sizeof(heard) / sizeof(heard[0]); i++)
		cr_assert(signal(heard[i], SIG_DFL) != SIG_ERR);
}

void world_begin(void)
{
	char uri[PATH_MAX + 16];

	hear_signals();
	cr_assert_eq(temp_make(dir), 0, "mkdtemp: %s", strerror(errno));
	cr_assert(chdir(dir) == 0);
	snprintf(uri, sizeof(uri), "file://%s", lock_dir());
	setenv("DLOCK_URI", uri, 1);
	unsetenv("DLOCK_PASSWORD");
	unsetenv("DLOCK_REQUIRE");
	/* Only the system's dlock.conf counts, no user's. */
	setenv("XDG_CONFIG_HOME", dir, 1);
	cr_assert(getenv("DLOCK_BIN"), "DLOCK_BIN must name the command");
	cr_assert(getenv("DLOCK_TEST_DIR"), "DLOCK_TEST_DIR must name the "
					    "directory of the helper programs");
}

void world_end(void)
{
	if (*dir && chdir("/") == 0)
		temp_remove(dir);
}

const char *file_path(const char *name)
{
	static char paths[4][PATH_MAX + 64];
	static unsigned int turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

const char *lock_dir(void)
{
	return file_path("locks");
}

const char *helper(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", getenv("DLOCK_TEST_DIR"), name);
	return path;
}

const char *module(const char *name)
{
	static char path[2][PATH_MAX + 64];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/modules/%s.so",
		 getenv("DLOCK_TEST_DIR"), name);
	return path[turn];
}

void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "we");

	cr_assert(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", path);
	cr_assert(chmod(path, mode) == 0);
}

static const char *output_name(int number, const char *what)
{
	static char name[32];

	snprintf(name, sizeof(name), "%s.%d", what, number);
	return name;
}

static int redirect(int number, const char *what, int to)
{
	int fd = open(file_path(output_name(number, what)),
		      O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && dup2(fd, to) == to;
}

static int no_input(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	return fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO;
}

void start(struct proc *p, const char *const argv[])
{
	char *args[32];
	size_t n = 0;

	args[n++] = (char *)(argv[0] ? argv[0] : getenv("DLOCK_BIN"));
	while (argv[n]) {
		args[n] = (char *)argv[n];
		n++;
	}
	args[n] = NULL;
	p->number = started++;
	p->pid = fork();
	if (p->pid == 0) {
		/* The process dies with a failed test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (no_input() && redirect(p->number, "out", STDOUT_FILENO) &&
		    redirect(p->number, "err", STDERR_FILENO))
			execv(args[0], args);
		_exit(99);
	}
	cr_assert(p->pid > 0, "fork: %s", strerror(errno));
}

struct result finish(const struct proc *p)
{
	return finish_within(p, DEADLINE_MS);
}

struct result finish_within(const struct proc *p, int64_t ms)
{
	int64_t end = now_ms() + ms;
	struct result r = { .code = -1000 };
	int status;
	pid_t pid;

	while ((pid = waitpid(p->pid, &status, WNOHANG)) == 0 && now_ms() < end)
		nap_ms(1);
	if (pid == 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, &status, 0);
	} else if (WIFEXITED(status)) {
		r.code = WEXITSTATUS(status);
	} else {
		r.code = -WTERMSIG(status);
	}
	r.out = slurp(file_path(output_name(p->number, "out")));
	r.err = slurp(file_path(output_name(p->number, "err")));
	return r;
}

char *output(const struct proc *p)
{
	return slurp(file_path(output_name(p->number, "out")));
}

char *errors(const struct proc *p)
{
	return slurp(file_path(output_name(p->number, "err")));
}

void await_error(const struct proc *p, const char *line)
{
	await_line(file_path(output_name(p->number, "err")), line);
}

struct result run(const char *const argv[])
{
	struct proc p;

	start(&p, argv);
	return finish(&p);
}

/* Keep the text for the next thousand calls. */
static char *keep(char *text)
{
	static char *kept[1000];
	static size_t n;
	char **slot = &kept[n++ % 1000];

	free(*slot);
	*slot = text;
	return text;
}

char *slurp(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (f && getdelim(&text, &size, '\0', f) >= 0) {
		fclose(f);
		return keep(text);
	}
	if (f)
		fclose(f);
	free(text);
	return keep(strdup(""));
}

int has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, line, n))
			return 1;
	}
	return 0;
}

static int file_has_line(const char *path, const char *line)
{
	return has_line(slurp(path), line);
}

void await_line(const char *path, const char *line)
{
	EVENTUALLY(file_has_line(path, line));
}

pid_t start_sigchild(struct proc *p, const char *file, const char *mode,
		     const char *name, const char *const options[])
{
	const char *argv[24] = { NULL, "run" };
	size_t n = 2;
	char *text;
	int pid;

	while (options && *options)
		argv[n++] = *options++;
	argv[n++] = name;
	argv[n++] = "--";
	argv[n++] = helper("sigchild");
	argv[n++] = file;
	argv[n++] = mode;
	start(p, argv);
	await_line(file, "ready ");
	text = slurp(file);
	cr_assert(sscanf(text, "ready %d", &pid) == 1);
	return pid;
}

const char *new_file(void)
{
	static int made;
	char name[32];

	snprintf(name, sizeof(name), "held.%d", made++);
	return file_path(name);
}

struct result stop(const struct proc *p)
{
	kill(p->pid, SIGTERM);
	return finish(p);
}

const char *full_pipe(void)
{
	static const char block[4096];
	static char path[64];
	int ends[2], flags;

	cr_assert(pipe2(ends, O_CLOEXEC) == 0);
	flags = fcntl(ends[1], F_GETFL);
	cr_assert(fcntl(ends[1], F_SETFL, flags | O_NONBLOCK) == 0);
	while (write(ends[1], block, sizeof(block)) > 0)
		;
	while (write(ends[1], block, 1) > 0)
		;
	cr_assert(fcntl(ends[1], F_SETFL, flags) == 0);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), ends[1]);
	return path;
}

int is_free(const char *name)
{
	return DLOCK("run", "-n", name, "/bin/true").code == 0;
}

struct result succeeded(struct result r)
{
	cr_expect_eq(r.code, 0, "%d %s", r.code, r.err);
	return r;
}

void expect_says(struct result r, int code, const char *says)
{
	cr_expect_eq(r.code, code, "%d %s", r.code, r.err);
	cr_expect(strstr(r.err, says), "not \"%s\" in: %s", says, r.err);
}

void needs_other_users(void)
{
	char path[4096];

	if (geteuid() != 0)
		cr_skip_test("needs root");
	snprintf(path, sizeof(path), "%s", getenv("DLOCK_BIN"));
	for (char *end; (end = strrchr(path, '/')) != NULL;) {
		struct stat st;

		*end = '\0';
		if (*path && stat(path, &st) == 0 && !(st.st_mode & S_IXOTH))
			cr_skip_test("other users may not enter %s, where "
				     "dlock was built",
				     path);
	}
}

char state_of(pid_t pid)
{
	char path[64], *name_end;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	name_end = strrchr(slurp(path), ')');
	return name_end && name_end[1] == ' ' ? name_end[2] : 'X';
}

int alive(pid_t pid)
{
	return !strchr("ZX", state_of(pid));
}

void set_parameter(const char *parameter)
{
	char uri[4400];

	snprintf(uri, sizeof(uri), "%s?%s", getenv("DLOCK_URI"), parameter);
	setenv("DLOCK_URI", uri, 1);
}

json_t *parse(const char *text)
{
	json_error_t error;
	json_t *value = json_loads(text, 0, &error);

	cr_assert(value, "%s in: %s", error.text, text);
	return value;
}

const char *string_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "(missing)";
}
