/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/clock.h"
#include "lab/base/fail.h"
#include "lab/base/process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define LIMIT_MS 5000

/* The letter after the last ')' of a stat file; 0 if the thread has ended. */
static char thread_state(pid_t pid, const char *tid)
{
	char path[64];
	char line[256];
	size_t len;
	char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", (int)pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	len = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[len] = '\0';
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : (char)0;
}

/* 1: every thread is as wanted; 0: some are not; -1: the process is gone. */
static int all_threads(pid_t pid, bool stopped)
{
	char path[64];
	struct dirent *d;
	bool all = true;
	bool dead = false;
	DIR *dir;
	char c;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return lab_fail("process %d: %s", (int)pid, strerror(errno));
	for (d = readdir(dir); d; d = readdir(dir)) {
		if (d->d_name[0] == '.')
			continue;
		c = thread_state(pid, d->d_name);
		/* t: stopped as well, by a tracer */
		if (c && (c == 'T' || c == 't') != stopped)
			all = false;
		if (c == 'Z' || c == 'X')
			dead = true;
	}
	closedir(dir);
	return dead ? lab_fail("process %d has ended", (int)pid) : all;
}

struct wish {
	pid_t pid;
	bool stopped;
};

static int is_so(void *arg)
{
	const struct wish *w = arg;

	return all_threads(w->pid, w->stopped);
}

static int signal_and_see(pid_t pid, int sig, bool stopped)
{
	struct wish w = { pid, stopped };
	int answer;

	if (kill(pid, sig) < 0)
		return lab_fail("process %d: %s", (int)pid, strerror(errno));
	answer = lab_wait_until(lab_after_ms(LIMIT_MS), is_so, &w);
	if (answer == 0)
		return lab_fail("process %d did not %s within %d ms", (int)pid,
				stopped ? "stop" : "go on", LIMIT_MS);
	return answer < 0 ? -1 : 0;
}

int lab_pause(pid_t pid)
{
	return signal_and_see(pid, SIGSTOP, true);
}

int lab_resume(pid_t pid)
{
	return signal_and_see(pid, SIGCONT, false);
}
