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

struct threads { /* of a process */
	int stopped;
	int running; /* neither stopped nor in a call that no signal ends */
	int living;  /* these, and those in such a call */
};

static void count_thread(struct threads *t, char state)
{
	if (!state || state == 'Z' || state == 'X')
		return;
	t->living++;
	if (state == 'T' || state == 't') /* t: by a tracer */
		t->stopped++;
	else if (state != 'D')
		t->running++;
}

/* -1: the process is gone. */
static int count_threads(pid_t pid, struct threads *out)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	memset(out, 0, sizeof(*out));
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return lab_fail("process %d: %s", (int)pid, strerror(errno));
	for (d = readdir(dir); d; d = readdir(dir)) {
		if (d->d_name[0] != '.')
			count_thread(out, thread_state(pid, d->d_name));
	}
	closedir(dir);
	if (out->living == 0)
		return lab_fail("process %d has ended", (int)pid);
	return 0;
}

struct wish {
	pid_t pid;
	bool stopped;
};

/* Once a thread has stopped, no other thread runs any more of the program.  A
 * thread in a long call of the kernel stops after the call: the close of an
 * inotify descriptor may take seconds. */
static int is_so(void *arg)
{
	const struct wish *w = arg;
	struct threads t;

	if (count_threads(w->pid, &t) < 0)
		return -1;
	return w->stopped ? t.stopped > 0 && t.running == 0 : t.stopped == 0;
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
