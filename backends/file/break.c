/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RACES 100

/* Does a failure come of another that breaks the same lock, and has removed our
 * new file or put it in place? */
static int raced(int errnum)
{
	return errnum == ENOENT || errnum == EEXIST || errnum == EAGAIN;
}

/* The next token of the new file is to be larger than any of the old one. */
static int succeed(int fd, int old, const struct dlk_claim *claim)
{
	struct file_header h;
	struct file_state was, st;

	memset(&st, 0, sizeof(st));
	if (dlki_file_load(old, claim->kind, claim->name, &h, &was) < 0)
		return -1;
	st.first = st.last = was.last > dlki_file_time() ? was.last :
							   dlki_file_time();
	st.limit = was.limit;
	return dlki_file_format(fd, claim->kind, claim->name, &st);
}

/*
 * Put a new file in the place of `old`.  Its holder keeps a lock that nobody
 * asks for any more, and learns of it by its watch.
 * The state is carried over twice: before the exchange, to see that there is
 * room, and after it, when no token can be drawn from the old file any more.
 * Nobody takes the new one in between: we hold all its bytes.  1: others were
 * in the way.
 */
static int replace(struct file_session *s, const char *file, const char *fresh,
		   int old, int fd, const struct dlk_claim *claim,
		   struct dlk_error *err)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int errnum, rc;

	if (fchmod(fd, 0600) < 0 || fcntl(fd, F_OFD_SETLK, &all) < 0 ||
	    succeed(fd, old, claim) < 0 ||
	    renameat(s->dirfd, fresh, s->dirfd, file) < 0) {
		errnum = errno;
		rc = dlki_file_fail(err, errnum, "replace lock file", file);
		if (raced(errnum))
			return 1;
		(void)unlinkat(s->dirfd, fresh, 0);
		return rc;
	}
	if (succeed(fd, old, claim) < 0)
		return dlki_file_fail(err, errno, "write lock file", file);
	return 0;
}

static int break_file(struct file_session *s, const char *file,
		      const char *fresh, const struct dlk_claim *claim,
		      struct dlk_error *err)
{
	struct stat st;
	int old, fd, errnum, rc;

	if (fstatat(s->dirfd, file, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno == ENOENT)
		return 0;
	rc = dlki_file_entry(s, file, &old, &st, err);
	if (rc < 0)
		return rc;
	/* Left by one that was killed here, or of one that is here now and
	 * will find it gone. */
	(void)unlinkat(s->dirfd, fresh, 0);
	fd = -1;
	if (!dlki_file_fds_hold())
		fd = dlki_file_fds_keep(openat(s->dirfd, fresh,
					       O_RDWR | O_CREAT | O_EXCL |
						       O_CLOEXEC | O_NOFOLLOW,
					       0600));
	errnum = errno;
	if (fd >= 0)
		rc = replace(s, file, fresh, old, fd, claim, err);
	else
		rc = dlki_file_fail(err, errnum, "make lock file", fresh);
	if (fd < 0 && raced(errnum))
		rc = 1;
	dlki_file_fds_close(fd);
	dlki_file_fds_close(old);
	return rc;
}

static int break_at_last(struct file_session *s, const char *file,
			 const char *fresh, const struct dlk_claim *claim,
			 struct dlk_error *err)
{
	int rc = break_file(s, file, fresh, claim, err);

	for (int i = 0; rc > 0 && i < RACES; i++) {
		sched_yield();
		rc = break_file(s, file, fresh, claim, err);
	}
	return rc > 0 ? err->code : rc;
}

int dlki_file_break(struct dlk_session *base, const struct dlk_claim *claim,
		    dlk_time deadline, struct dlk_error *err)
{
	struct file_session *s = file_session(base);
	char *file = dlki_file_entry_name(s, claim->key, "");
	char *fresh = dlki_file_entry_name(s, claim->key, "~");
	int rc = dlki_file_dir_follow(s, err);

	(void)deadline;
	if (rc == 0 && file && fresh)
		rc = break_at_last(s, file, fresh, claim, err);
	else if (rc == 0)
		rc = dlk_fail(err, DLOCK_ENOMEM, "out of memory");
	free(file);
	free(fresh);
	return rc;
}
