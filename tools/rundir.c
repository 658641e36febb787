/* SPDX-License-Identifier: Apache-2.0 */
#include "rundir.h"
#include "exits.h"
#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A directory that nobody else can write to or look into? */
static int private_dir(const char *path)
{
	struct stat st;

	return path[0] == '/' && lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid() && (st.st_mode & 077) == 0;
}

/* "file://" and the path, percent-encoded where a URI needs it. */
static char *file_uri(const char *path)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789/-._~";
	char *uri = malloc(sizeof("file://") + 3 * strlen(path));
	char *end = uri;

	if (!uri)
		return NULL;
	end = stpcpy(end, "file://");
	for (; *path; path++) {
		if (strchr(plain, *path))
			*end++ = *path;
		else
			end += sprintf(end, "%%%02X", (unsigned char)*path);
	}
	*end = '\0';
	return uri;
}

static char *choose(void)
{
	const char *xdg = secure_getenv("XDG_RUNTIME_DIR");
	unsigned int uid = geteuid();
	char base[64], *path;
	int n;

	snprintf(base, sizeof(base), "/run/user/%u", uid);
	if (xdg && private_dir(xdg))
		n = asprintf(&path, "%s/dlock", xdg);
	else if (private_dir(base))
		n = asprintf(&path, "%s/dlock", base);
	else
		n = asprintf(&path, "/tmp/dlock-%u", uid);
	return n < 0 ? NULL : path;
}

int rundir_uri(char **out)
{
	char *path = choose();
	int code = 0;

	if (!path)
		return fail(LEAVE_SYSTEM, "out of memory");
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		code = fail(LEAVE_SYSTEM, "cannot make the directory %s: %s",
			    path, strerror(errno));
	else if (!private_dir(path))
		/* In /tmp anybody may have been there first. */
		code = fail(LEAVE_DENIED,
			    "%s must be a directory of yours "
			    "with mode 0700: remove it, or name a store with "
			    "-u or DLOCK_URI",
			    path);
	else if (*out = file_uri(path), !*out)
		code = fail(LEAVE_SYSTEM, "out of memory");
	free(path);
	return code;
}
