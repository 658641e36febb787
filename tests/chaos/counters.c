/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chaos/worker.h"
#include "lab/base/fail.h"

struct chaos_counters *chaos_counters_map(const char *dir)
{
	char path[PATH_MAX + 16];
	struct chaos_counters *counters = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/" CHAOS_COUNTERS, dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof(*counters)) == 0)
		counters = mmap(NULL, sizeof(*counters), PROT_READ | PROT_WRITE,
				MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		lab_fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return counters == MAP_FAILED ? NULL : counters;
}
