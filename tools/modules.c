/* SPDX-License-Identifier: Apache-2.0 */
#include "modules.h"
#include "exits.h"
#include "message.h"

#include <dlock/backend.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *loaded;   /* as $DLOCK_BACKENDS, or NULL */
static char *left_out; /* a path that cannot be in the list, or NULL */

int modules_load(const char *file)
{
	int rc = dlock_backend_load(file);
	char *path, *all;

	if (rc != DLOCK_OK)
		return fail(exit_for(rc), "%s", dlock_errmsg());
	/* A program that we start may begin in another directory. */
	path = realpath(file, NULL);
	if (!path)
		return fail(LEAVE_SYSTEM, "%s: %s", file, strerror(errno));
	if (strchr(path, ':')) {
		free(left_out);
		left_out = path;
		return LEAVE_OK;
	}
	rc = asprintf(&all, "%s:%s", loaded ? loaded : "", path);
	free(path);
	if (rc < 0)
		return fail(LEAVE_SYSTEM, "out of memory");
	free(loaded);
	loaded = all;
	return LEAVE_OK;
}

int modules_pass_on(void)
{
	if (left_out)
		return fail(LEAVE_USAGE,
			    "%s: $DLOCK_BACKENDS, which hands the store on, "
			    "ends a path at the ':': move or copy the file to "
			    "a path without",
			    left_out);
	if (!loaded || setenv("DLOCK_BACKENDS", loaded, 1) == 0)
		return LEAVE_OK;
	return fail(LEAVE_SYSTEM, "out of memory");
}

int modules_from_environment(void)
{
	const char *at = secure_getenv("DLOCK_BACKENDS");
	int status = LEAVE_OK;

	while (at && *at && status == LEAVE_OK) {
		size_t n = strcspn(at, ":");
		char *file = strndup(at, n);

		if (!file)
			return fail(LEAVE_SYSTEM, "out of memory");
		if (*file)
			status = modules_load(file);
		free(file);
		at += n + (at[n] == ':');
	}
	return status;
}
