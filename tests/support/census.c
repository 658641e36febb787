/* SPDX-License-Identifier: Apache-2.0 */
#include "support/census.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/wait.h"

static int each_entry(const char *path, void (*each)(int number, void *arg),
		      void *arg)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	if (!dir)
		FAIL("cannot read %s", path);
	while ((e = readdir(dir))) {
		int number = atoi(e->d_name);

		if (e->d_name[0] == '.')
			continue;
		if (each && number == dirfd(dir))
			continue;
		n++;
		if (each)
			each(number, arg);
	}
	closedir(dir);
	return n;
}

static void note(int fd, void *arg)
{
	struct census *c = arg;

	if (fd < CENSUS_FDS)
		c->open[fd] = 1;
}

void census_take(struct census *c)
{
	memset(c, 0, sizeof(*c));
	c->fds = each_entry("/proc/self/fd", note, c);
	c->threads = each_entry("/proc/self/task", NULL, NULL);
}

int census_grown(const struct census *then)
{
	struct census now;

	census_take(&now);
	return now.threads > then->threads || now.fds > then->fds;
}

/* Returns "" for a thread that has ended. */
static void thread_name(int tid, char name[32])
{
	char path[64];
	FILE *f;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", tid);
	f = fopen(path, "r");
	if (!f)
		return;
	if (fgets(name, 32, f))
		name[strcspn(name, "\n")] = '\0';
	fclose(f);
}

struct namesakes {
	const char *name;
	int n;
};

static void compare_name(int tid, void *arg)
{
	struct namesakes *all = arg;
	char name[32];

	thread_name(tid, name);
	all->n += strcmp(name, all->name) == 0;
}

int census_threads(const char *name)
{
	struct namesakes all = { name, 0 };

	each_entry("/proc/self/task", compare_name, &all);
	return all.n;
}

static void name_thread(int tid, void *arg)
{
	char *text = arg;
	size_t used = strlen(text);
	char name[32];

	thread_name(tid, name);
	snprintf(text + used, 400 - used, " %s", name);
}

static void complain(const struct census *then, const struct census *now)
{
	char text[400] = "threads:";

	each_entry("/proc/self/task", name_thread, text);
	for (int fd = 0; fd < CENSUS_FDS; fd++) {
		size_t used = strlen(text);
		char path[32], target[128];
		ssize_t n;

		if (!now->open[fd] || then->open[fd])
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		snprintf(text + used, sizeof(text) - used, "; fd %d: %.80s", fd,
			 target);
	}
	FAIL("left behind: %d threads (were %d), %d descriptors (were %d); %s",
	     now->threads, then->threads, now->fds, then->fds, text);
}

void census_same(const struct census *then)
{
	int64_t end = now_ms() + patience_ms();
	struct census now;

	while (census_grown(then) && now_ms() < end)
		nap_ms(1);
	census_take(&now);
	if (now.threads > then->threads || now.fds > then->fds)
		complain(then, &now);
}
