/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/servers/wall.h"
#include "lab/base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (LAB_WALL_NUMBERS * sizeof(int64_t))

int64_t *lab_wall_map(const char *dir)
{
	char path[128];
	void *page = MAP_FAILED;
	int fd;

	snprintf(path, sizeof(path), "%s/" LAB_WALL_FILE, dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, SIZE) == 0)
		page = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);
	if (page == MAP_FAILED)
		lab_fail("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return page == MAP_FAILED ? NULL : page;
}

void lab_wall_unmap(int64_t *page)
{
	if (page)
		munmap(page, SIZE);
}

/* Look where the shim was built, and where it was installed, relative to this
 * program, so that no path of the build is in it. */
static const char *find_beside(void)
{
	static const char *const places[] = { LAB_WALLSHIM_BUILT,
					      LAB_WALLSHIM_INSTALLED };
	static _Thread_local char path[PATH_MAX];
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self));
	const char *name = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;

	for (size_t i = 0; name && i < sizeof(places) / sizeof(places[0]);
	     i++) {
		int len = snprintf(path, sizeof(path), "%.*s/%s",
				   (int)(name - self), self, places[i]);

		if (len > 0 && (size_t)len < sizeof(path) &&
		    access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

const char *lab_wall_shim(void)
{
	const char *path = secure_getenv("DLOCK_LAB_WALLSHIM");

	if (!path)
		path = find_beside();
	if (path && access(path, R_OK) == 0)
		return path;
	lab_fail("no shim to step a server's clock with: build lab_wallshim, "
		 "or set DLOCK_LAB_WALLSHIM");
	return NULL;
}
