/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/state.h"
#include "backends/file/table.h"
#include "core/base/error.h"

/* Lock the seal, so that no permit is granted meanwhile.  Others hold the seal
 * for a few system calls, unless their process is stopped. */
static int lock_seal(int fd, const char *file, dlk_time deadline,
		     struct dlk_error *err)
{
	for (;;) {
		int rc = dlki_file_lock(fd, F_WRLCK, FILE_SEAL);

		if (rc > 0)
			return 0;
		if (rc < 0)
			return dlki_file_fail(err, errno, "lock", file);
		if (dlk_now() >= dlk_deadline(deadline))
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"lock file '%.120s': a process that is "
					"being granted a permit is stopped",
					file);
		poll(NULL, 0, 1);
	}
}

static int store_limit(int fd, const char *file,
		       const struct dlk_request *request, struct dlk_error *err)
{
	struct file_state st;
	int found = dlki_file_entry_load(fd, file, request, &st, err);

	if (found < 0)
		return found;
	if (!st.limit || !dlki_file_count(fd, FILE_HOLDERS, FILE_WAITERS))
		return DLOCK_EINVAL;
	st.limit = request->limit;
	st.is_set = 1;
	if (dlki_file_store(fd, &st) < 0)
		return dlki_file_fail(err, errno, "write lock file", file);
	return 0;
}

/* Resize, and see last of all that the file still stands.  1: another client
 * has replaced or removed the file.  Closing a description that may write
 * notifies the waiters: see notify.h. */
static int try_resize(struct file_session *s, const char *file,
		      const struct dlk_request *request, dlk_time deadline,
		      struct dlk_error *err)
{
	struct stat st;
	int fd, rc;

	if (fstatat(s->dirfd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno == ENOENT)
		return DLOCK_EINVAL;
	rc = dlki_file_table_entry(s, file, &fd, &st, err);
	if (rc < 0)
		return rc;
	rc = lock_seal(fd, file, deadline, err);
	if (rc == 0)
		rc = store_limit(fd, file, request, err);
	if ((rc == 0 || rc == DLOCK_EINVAL) &&
	    dlki_file_stands(s->dirfd, file, st.st_dev, st.st_ino) == 0)
		rc = 1;
	dlki_file_fds_close(fd);
	return rc;
}

static int resize_file(struct file_session *s, const char *file,
		       const struct dlk_request *request, dlk_time deadline,
		       struct dlk_error *err)
{
	int rc;

	while ((rc = try_resize(s, file, request, deadline, err)) > 0) {
		if (dlk_now() >= dlk_deadline(deadline))
			return dlk_fail(err, DLOCK_EUNREACHABLE,
					"lock file '%.120s' is replaced or "
					"removed again and again",
					file);
	}
	return rc;
}

int dlki_file_resize(struct dlk_session *base,
		     const struct dlk_request *request, dlk_time deadline,
		     struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	char *file = dlki_file_entry_name(s, request->key, "");
	int rc = dlki_file_dir_follow(s, err);

	if (rc == 0 && !file)
		rc = dlki_nomem(err);
	if (rc == 0)
		rc = resize_file(s, file, request, deadline, err);
	free(file);
	return rc;
}
