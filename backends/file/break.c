/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/fds.h"
#include "backends/file/floor.h"
#include "backends/file/share.h"
#include "backends/file/state.h"
#include "backends/file/table.h"
#include "core/base/error.h"

#define RACES 100
#define TAIL_SIZE 16

/* Did we fail because another client breaks the same lock, and has removed our
 * new file or put it in place? */
static int raced(int errnum)
{
	return errnum == ENOENT || errnum == EEXIST || errnum == EAGAIN;
}

/* Copy the state, so that the new file's next token is larger than all tokens
 * of the old file by `ahead` at least, and of removed files if the old file has
 * no good state. */
static int carry_state_over(struct file_session *s, int fd, int old,
			    const struct dlk_request *request, uint64_t ahead)
{
	struct file_header h;
	struct file_state was, st;
	int found = dlki_file_load(old, request->kind, request->name, &h, &was);
	uint64_t now_us = dlki_file_time(), floor = 0;

	if (found < 0 ||
	    (found != FILE_GOOD && dlki_file_table_floor(s, &floor) < 0))
		return -1;
	memset(&st, 0, sizeof(st));
	st.last = was.last > now_us ? was.last : now_us;
	if (st.last < floor)
		st.last = floor;
	st.first = st.last += ahead;
	st.limit = was.limit;
	st.is_set = was.is_set;
	if (dlki_file_format(fd, request->kind, request->name, &st) < 0)
		return -1;
	return s->sync ? fdatasync(fd) : 0;
}

/* Set the error.  In a directory with the sticky bit other users' files cannot
 * be replaced. */
static int cannot_replace(int errnum, const char *file, int old,
			  struct dlk_error *err)
{
	struct stat st;

	if (errnum != EPERM || fstat(old, &st) < 0 || st.st_uid == geteuid())
		return dlki_file_fail(err, errnum, "replace lock file", file);
	return dlk_fail(err, DLOCK_EDENIED,
			"lock file '%.120s' belongs to user %u, not to us "
			"(%u): only they, the directory's owner or root can "
			"break the lock",
			file, (unsigned int)st.st_uid, (unsigned int)geteuid());
}

/*
 * Put a new file in the place of `old`.  The holder keeps the lock on the old
 * file, which no other client asks for, and hears of the loss by the inotify
 * watch.
 *
 * The state is carried over twice: before the exchange, to see that there is
 * room, and after it, when the old file has given its last token.  No client
 * can lock the new file in between, as we have locked all bytes of the new
 * file.  If we are killed in between, the first copy counts, and is ahead of
 * the range that the holder may have set aside meanwhile.  1: others were in
 * the way.
 */
static int replace_file(struct file_session *s, const char *file,
			const char *fresh, int old, int fd,
			const struct dlk_request *request,
			struct dlk_error *err)
{
	int errnum, rc;

	if (dlki_file_share_apply(s, fd) < 0 || dlki_file_lock_all(fd) != 1 ||
	    carry_state_over(s, fd, old, request, 2 * DLK_TOKENS_AHEAD) < 0 ||
	    renameat(s->dirfd, fresh, s->dirfd, file) < 0) {
		errnum = errno;
		rc = cannot_replace(errnum, file, old, err);
		if (raced(errnum))
			return 1;
		(void)unlinkat(s->dirfd, fresh, 0);
		return rc;
	}
	if (carry_state_over(s, fd, old, request, 0) < 0)
		return dlki_file_fail(err, errno, "write lock file", file);
	return 0;
}

static int break_file(struct file_session *s, const char *file,
		      const char *fresh, const struct dlk_request *request,
		      struct dlk_error *err)
{
	struct file_state was;
	struct stat st;
	int old, fd, errnum, rc;

	if (fstatat(s->dirfd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno == ENOENT)
		return 0;
	rc = dlki_file_table_entry(s, file, &old, &st, err);
	if (rc < 0)
		return rc;
	rc = dlki_file_entry_load(old, file, request, &was, err);
	if (rc < 0) {
		dlki_file_fds_close(old);
		return rc;
	}
	/* Left by a client that was killed here; or in use by another client,
	 * which will find the file gone. */
	(void)unlinkat(s->dirfd, fresh, 0);
	fd = -1;
	if (!dlki_file_fds_hold())
		fd = dlki_file_fds_keep(openat(s->dirfd, fresh,
					       O_RDWR | O_CREAT | O_EXCL |
						       O_CLOEXEC | O_NOFOLLOW,
					       0600));
	errnum = errno;
	if (fd >= 0)
		rc = replace_file(s, file, fresh, old, fd, request, err);
	else
		rc = dlki_file_fail(err, errnum, "make lock file", fresh);
	if (fd < 0 && raced(errnum))
		rc = 1;
	dlki_file_fds_close(fd);
	dlki_file_fds_close(old);
	return rc;
}

static int break_despite_races(struct file_session *s, const char *file,
			       const char *fresh,
			       const struct dlk_request *request,
			       struct dlk_error *err)
{
	int rc = break_file(s, file, fresh, request, err);

	for (int i = 0; rc > 0 && i < RACES; i++) {
		sched_yield();
		rc = break_file(s, file, fresh, request, err);
	}
	return rc > 0 ? err->code : rc;
}

/* Print the tail of the new file's name, an own tail for each user: another
 * user's new file, left by a killed client, may not be ours to remove. */
static const char *fresh_tail(char tail[TAIL_SIZE])
{
	snprintf(tail, TAIL_SIZE, "~%u", (unsigned int)geteuid());
	return tail;
}

int dlki_file_break(struct dlk_session *base, const struct dlk_request *request,
		    dlk_time deadline, struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	char *file = dlki_file_entry_name(s, request->key, "");
	char tail[TAIL_SIZE];
	char *fresh = dlki_file_entry_name(s, request->key, fresh_tail(tail));
	int rc = dlki_file_dir_follow(s, err);
	int floor = -1;

	if (rc == 0 && (!file || !fresh))
		rc = dlki_nomem(err);
	if (rc == 0)
		rc = floor = dlki_file_table_floor_lock(s, deadline, err);
	if (rc >= 0)
		rc = break_despite_races(s, file, fresh, request, err);
	dlki_file_floor_unlock(floor);
	free(file);
	free(fresh);
	return rc;
}
