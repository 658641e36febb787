/* SPDX-License-Identifier: Apache-2.0 */
/* Does a thread sleep? */
#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int bench_open_stat(pid_t pid, pid_t tid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/task/%ld/stat", (long)pid,
		 (long)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		bench_skip("%s: %s", path, strerror(errno));
	return fd;
}

int bench_is_asleep(int stat_fd)
{
	char text[256];
	ssize_t n = pread(stat_fd, text, sizeof(text) - 1, 0);
	const char *end;

	text[n > 0 ? n : 0] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}
