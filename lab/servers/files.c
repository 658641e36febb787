/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/base/fail.h"
#include "lab/servers/server.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int lab_server_file(struct lab_server *s, const char *name, const char *format,
		    ...)
{
	char path[256];
	va_list ap;
	FILE *f = NULL;
	int fd;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f) {
		lab_fail("%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	va_start(ap, format);
	rc = vfprintf(f, format, ap);
	va_end(ap);
	if (fclose(f) != 0 || rc < 0)
		return lab_fail("%s: %s", path, strerror(errno));
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

int lab_server_remove(struct lab_server *s, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", s->dir, name);
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) < 0 &&
	    errno != ENOENT)
		return lab_fail("%s: %s", path, strerror(errno));
	return 0;
}
