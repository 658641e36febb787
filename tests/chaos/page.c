/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chaos/worker.h"
#include "lab/fail.h"

struct chaos_page *chaos_page_map(const char *dir)
{
	char path[PATH_MAX + 16];
	void *page = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/" CHAOS_PAGE, dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof(struct chaos_page)) == 0)
		page = mmap(NULL, sizeof(struct chaos_page),
			    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		lab_fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return page == MAP_FAILED ? NULL : page;
}
