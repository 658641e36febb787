/* SPDX-License-Identifier: Apache-2.0 */
#include "torture/torture.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "support/wait.h"

#define MOST 5000 /* the most failures of a scene */

static int n_passed, n_failed, n_skipped;

/* The failures, printed again at the end: logs are cut at the front. */
static char again[4000];

static void say(const char *word, const char *fmt, va_list args)
{
	char text[800];

	vsnprintf(text, sizeof(text), fmt, args);
	printf("%-7s %s\n", word, text);
	fflush(stdout);
	if (strcmp(word, "FAILED") == 0) {
		size_t len = strlen(again);

		snprintf(again + len, sizeof(again) - len, "FAILED  %s\n",
			 text);
	}
}

#define RESULT(name, word, counter)                                            \
	void name(const char *fmt, ...)                                        \
	{                                                                      \
		va_list args;                                                  \
                                                                               \
		va_start(args, fmt);                                           \
		say(word, fmt, args);                                          \
		va_end(args);                                                  \
		counter++;                                                     \
	}

RESULT(passed, "passed", n_passed)
RESULT(failed, "FAILED", n_failed)
RESULT(skipped, "skipped", n_skipped)

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

struct leaks leaks_now(void)
{
	return (struct leaks){ .blocks = seam_blocks(),
			       .fds = entries("/proc/self/fd"),
			       .threads = entries("/proc/self/task") };
}

static int at_rest; /* threads of this process while no client is open */

static void *end_at_once(void *arg)
{
	return arg;
}

/* With the first thread a sanitizer starts another thread, which stays. */
static void rest(void)
{
	pthread_t thread;

	if (seam_thread(&thread, end_at_once, NULL) == 0)
		pthread_join(thread, NULL);
	at_rest = entries("/proc/self/task");
	for (int i = 0; i < 100; i++) {
		int now = entries("/proc/self/task");

		at_rest = now < at_rest ? now : at_rest;
		nap_ms(1);
	}
}

/* The kernel may list a joined thread for a moment. */
static int threads_settle(int want)
{
	for (int i = 0; i < 2000; i++) {
		if (entries("/proc/self/task") <= want)
			return 1;
		nap_ms(1);
	}
	return 0;
}

int torture(const struct scene *scene, const char *uri, enum seam seam,
	    int errnum, const int *codes, const char *what)
{
	struct play warm = { .uri = uri, .codes = (const int[]){ 0 } };
	struct leaks before;
	long hurt = 0, k = 0;
	int fired = 1;

	/* Objects of the process are made once. */
	scene->play(&warm);
	if (warm.failed) {
		failed("%s %s on %s: without any fault: %s", what, scene->name,
		       uri, warm.text);
		return -1;
	}
	threads_settle(at_rest);
	before = leaks_now();
	while (fired && ++k < MOST) {
		struct play p = { .uri = uri, .codes = codes };
		struct leaks now;

		seam_arm(seam, k, errnum, 0);
		scene->play(&p);
		fired = seam_disarm();
		hurt += p.hurt > 0;
		threads_settle(before.threads);
		now = leaks_now();
		if (p.failed) {
			failed("%s %s on %s, the %ld. one: %s", what,
			       scene->name, uri, k, p.text);
			return -1;
		}
		if (now.blocks != before.blocks || now.fds != before.fds ||
		    now.threads != before.threads) {
			failed("%s %s on %s, the %ld. one: %ld blocks, %d "
			       "descriptors, %d threads left",
			       what, scene->name, uri, k,
			       now.blocks - before.blocks, now.fds - before.fds,
			       now.threads - before.threads);
			return -1;
		}
	}
	if (k == 1 || k == MOST || (codes[0] && hurt == 0)) {
		failed("%s %s on %s: %ld calls, %ld of them noticed", what,
		       scene->name, uri, k - 1, hurt);
		return -1;
	}
	passed("%s %s on %s: %ld failures, %ld reported", what, scene->name,
	       uri, k - 1, hurt);
	return 0;
}

static void torture_store(const char *uri)
{
	dlock_client *c = NULL;
	int rc = dlock_open(&c, uri, NULL);

	if (rc == DLOCK_ENOTSUP) {
		skipped("%s: %s", uri, dlock_errmsg());
		return;
	}
	dlock_close(c);
	torture_memory(uri);
	torture_syscalls(uri);
}

static void torture_all(void)
{
	char uri[] = "file:///tmp/dlock-torture-XXXXXX";
	char *dir = uri + strlen("file://");
	char command[100];

	torture_marker();
	if (fake_register() != 0 || !mkdtemp(dir)) {
		failed("%s", dlock_errmsg());
		return;
	}
	torture_store("mem:?label=torture");
	torture_store("fake:?ttl=5s&label=torture");
	torture_register();
	torture_store(uri);
	if (fake_complaint())
		failed("the rules of backend.h: %s", fake_complaint());
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command) != 0)
		fprintf(stderr, "torture: %s is left\n", dir);
}

int main(void)
{
	rest();
	torture_all();
	printf("%s%d passed, %d failed, %d skipped\n", again, n_passed,
	       n_failed, n_skipped);
	return n_failed != 0;
}
