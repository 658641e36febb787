/* SPDX-License-Identifier: Apache-2.0 */
#include "conform/runner.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/process.h"
#include "support/temp.h"

/* ---- URIs ---------------------------------------------------------------- */

char *conform_uri(size_t i)
{
	const char *at = getenv("DLOCK_TEST_URIS");

	if (!at || !at[strspn(at, " \n\t")])
		at = "mem: file://{}";
	for (;; i--) {
		size_t n;

		at += strspn(at, " \n\t");
		n = strcspn(at, " \n\t");
		if (n == 0)
			return NULL;
		if (i == 0)
			return strndup(at, n);
		at += n;
	}
}

void conform_uri_name(size_t i, char *name, size_t size)
{
	char *uri = conform_uri(i);
	int before = 1;

	uri[strcspn(uri, ":")] = '\0';
	for (size_t k = 0; k < i; k++) {
		char *other = conform_uri(k);

		other[strcspn(other, ":")] = '\0';
		before += strcmp(uri, other) == 0;
		free(other);
	}
	if (before > 1)
		snprintf(name, size, "%s%d", uri, before);
	else
		snprintf(name, size, "%s", uri);
	free(uri);
}

static void set_environment(const char *uri, const char *dir)
{
	const char *hole = strstr(uri, "{}");
	char full[2 * PATH_MAX];

	if (hole)
		snprintf(full, sizeof(full), "%.*s%s/store%s",
			 (int)(hole - uri), uri, dir, hole + 2);
	else
		snprintf(full, sizeof(full), "%s", uri);
	setenv("CONFORM_URI", full, 1);
	setenv("CONFORM_DIR", dir, 1);
}

/* ---- The run ------------------------------------------------------------- */

static void append_text(struct outcome *out, const char *text)
{
	size_t used = strlen(out->text);

	snprintf(out->text + used, sizeof(out->text) - used, "%s", text);
}

/* Read until the case and all processes of the case are gone. */
static void read_output(int fd, struct outcome *out, int64_t end)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char text[1024];

	for (;;) {
		int64_t left = end - now_ms();
		ssize_t n;

		if (poll(&p, 1, left > 0 ? (int)left : 0) == 0)
			return;
		n = read(fd, text, sizeof(text) - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text[n] = '\0';
		append_text(out, text);
	}
}

/* A case that exits with 0 but prints text fails: the text is a sanitizer's. */
static void judge_exit(struct outcome *out, int code)
{
	char text[80];

	out->verdict = FAILED;
	if (code == 0 && !out->text[0])
		out->verdict = PASSED;
	else if (code == CHECK_SKIPPED)
		out->verdict = SKIPPED;
	if (code > 128) {
		snprintf(text, sizeof(text), "killed by signal %d\n",
			 code - 128);
		append_text(out, text);
	} else if (out->verdict == FAILED && !out->text[0]) {
		snprintf(text, sizeof(text), "exit code %d\n", code);
		append_text(out, text);
	}
}

/* Return the program with the cases; NULL: this program. */
static const char *program(char path[PATH_MAX])
{
#ifdef CONFORM_PROGRAM /* beside this program */
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);

	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n <= 0)
		return NULL;
	snprintf(path + n, PATH_MAX - (size_t)n, "%s", CONFORM_PROGRAM);
	return path;
#else
	(void)path;
	return NULL;
#endif
}

static void run_in(const char *name, const char *uri, const char *dir,
		   struct outcome *out)
{
	char word[64], path[PATH_MAX];
	char *argv[] = { "conform", "--case", word, NULL };
	struct process_files files = { .program = program(path),
				       .keep = { -1, -1 } };
	int64_t end = now_ms() + 4 * patience_ms();
	int fd[2];
	pid_t pid;
	int code;

	snprintf(word, sizeof(word), "%s", name);
	set_environment(uri, dir);
	if (pipe2(fd, O_CLOEXEC) != 0) {
		append_text(out, "no pipe\n");
		return;
	}
	files.out = fd[1];
	pid = process_start(argv, &files, 1);
	close(fd[1]);
	if (pid > 0) {
		read_output(fd[0], out, end);
		code = process_wait(pid, now_ms() < end ? patience_ms() : 0);
		kill(-pid, SIGKILL);
		if (code < 0) {
			append_text(out, "hangs\n");
			process_kill(pid);
		}
		judge_exit(out, code);
	} else {
		append_text(out, "cannot start a process\n");
	}
	close(fd[0]);
}

void conform_run(const char *name, const char *uri, struct outcome *out)
{
	char dir[PATH_MAX], store[PATH_MAX + 8];
	int64_t begun = now_ms();

	memset(out, 0, sizeof(*out));
	out->verdict = FAILED;
	if (temp_make(dir) != 0) {
		append_text(out, "no directory\n");
		return;
	}
	snprintf(store, sizeof(store), "%s/store", dir);
	if (mkdir(store, 0700) == 0)
		run_in(name, uri, dir, out);
	else
		append_text(out, "no directory\n");
	temp_remove(dir);
	out->took_ms = now_ms() - begun;
}
