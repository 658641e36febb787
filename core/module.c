/* SPDX-License-Identifier: Apache-2.0 */
/* Backends in shared objects. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/process.h"
#include "core/registry.h"

#define SYMBOL "dlock_backend_v1"

/* A sticky directory lets only the owner of a file replace the file. */
static int others_may_write(const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return 1;
	return st->st_mode & (S_IWGRP | S_IWOTH) &&
	       !(S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX);
}

/* A user that can write the file, or replace a directory on the path, chooses
 * the code that runs here.  `path` is resolved, and is cut during the walk. */
static int check_path(char *path, struct dlk_error *err)
{
	char *slash;

	for (;;) {
		struct stat st;

		if (stat(*path ? path : "/", &st) != 0)
			return dlki_system(err, errno, path);
		if (others_may_write(&st))
			return dlk_fail(err, DLOCK_EDENIED,
					"%s: another user may write it, and so "
					"choose the code that runs here; give "
					"it to root or to yourself alone",
					*path ? path : "/");
		slash = strrchr(path, '/');
		if (!slash)
			return 0;
		*slash = '\0';
	}
}

static int check_module(const struct dlock_module *m, const char *file,
			struct dlk_error *err)
{
	if (m->size < sizeof(*m) || !m->backend)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: its '" SYMBOL "' is none of "
				"DLOCK_MODULE()'s",
				file);
	if (m->major != DLOCK_VERSION_MAJOR || m->minor != DLOCK_VERSION_MINOR)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: compiled against dlock %u.%u, but this is "
				"%s; compile it against these headers",
				file, (unsigned int)m->major,
				(unsigned int)m->minor, dlock_version());
	if (m->session_size != sizeof(struct dlk_session) ||
	    m->ticket_size != sizeof(struct dlk_ticket))
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: compiled against headers of another build "
				"of dlock %s; compile it against these",
				file, dlock_version());
	return 0;
}

static int registered_already(const struct dlock_backend *backend)
{
	const struct dlock_backend *there;

	return backend->schemes && backend->schemes[0] &&
	       dlki_registry_find(&there, backend->schemes[0], NULL) == 0 &&
	       there == backend;
}

/* `*added`: in use from now on, for ever. */
static int use_object(void *object, const char *file, int *added,
		      struct dlk_error *err)
{
	const struct dlock_module *m = dlsym(object, SYMBOL);
	int rc;

	if (!m)
		return dlk_fail(err, DLOCK_EINVAL,
				"%s: no dlock backend: it has no symbol "
				"'" SYMBOL "'; see DLOCK_MODULE() in "
				"<dlock/backend.h>",
				file);
	rc = check_module(m, file, err);
	if (rc != 0 || registered_already(m->backend))
		return rc;
	rc = dlki_registry_add(m->backend, file, err);
	*added = rc == 0;
	return rc;
}

static int load(const char *file, struct dlk_error *err)
{
	char path[PATH_MAX], walked[PATH_MAX];
	void *object;
	int added = 0;
	int rc;

	if (!file || !*file)
		return dlk_fail(err, DLOCK_EINVAL,
				"dlock_backend_load: no file is named");
	if (!realpath(file, path))
		return dlk_fail(err, DLOCK_EINVAL, "%s: %s", file,
				dlki_errno_text(errno));
	memcpy(walked, path, sizeof(walked));
	rc = check_path(walked, err);
	if (rc != 0)
		return rc;
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return dlk_fail(err, DLOCK_EINVAL, "%s", dlerror());
	rc = use_object(object, path, &added, err);
	if (!added)
		dlclose(object);
	return rc;
}

int dlock_backend_load(const char *file)
{
	struct dlki_scope s = dlki_enter();

	return dlki_leave_with(&s, load(file, &s.err));
}
