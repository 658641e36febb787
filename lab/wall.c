/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/wall.h"
#include "lab/fail.h"

#include <errno.h>
#include <fcntl.h>
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

const char *lab_wall_shim(void)
{
	const char *path = getenv("DLOCK_LAB_WALLSHIM");

#ifdef LAB_WALLSHIM
	if (!path)
		path = LAB_WALLSHIM;
#endif
	if (path && access(path, R_OK) == 0)
		return path;
	lab_fail("no shim to step a server's clock with: build lab_wallshim, "
		 "or set DLOCK_LAB_WALLSHIM");
	return NULL;
}
