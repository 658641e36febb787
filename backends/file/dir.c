/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "backends/file/fds.h"
#include "backends/file/file.h"
#include "backends/file/inotify.h"
#include "backends/file/magic.h"
#include "backends/file/share.h"
#include "backends/file/state.h"
#include "core/base/error.h"

int dlki_file_fail(struct dlk_error *err, int errnum, const char *doing,
		   const char *what)
{
	int code;

	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
	case EMFILE:
	case ENFILE:
	case ENOLCK:
		code = DLOCK_EEXHAUSTED;
		break;
	case EACCES:
	case EPERM:
	case EROFS:
		code = DLOCK_EDENIED;
		break;
	case ENOMEM:
		code = DLOCK_ENOMEM;
		break;
	default:
		code = DLOCK_ESYSTEM;
	}
	return dlk_fail(err, code, "cannot %s '%.120s': %s", doing, what,
			dlki_errno_text(errnum));
}

/* Refuse a remote directory, or a directory unfit for the share. */
static int dir_check(const struct file_session *s, int fd,
		     struct dlk_error *err)
{
	struct stat st;
	struct statfs fs;
	const char *remote;
	int rc;

	if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return dlki_file_fail(err, errno, "check directory", s->dir);
	rc = dlki_file_share_check_dir(s, fd, &st, err);
	if (rc < 0)
		return rc;
	remote = file_remote_fs((uint32_t)fs.f_type);
	if (remote && s->share != FILE_SHARE_USER)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"directory '%.120s' is on "
				"%s: several users share locks on a local file "
				"system only",
				s->dir, remote);
	if (remote && !s->remote_ok)
		return dlk_fail(err, DLOCK_ENOTSUP,
				"directory '%.120s' is on "
				"%s, where other hosts may not see its locks; "
				"use a local one, or remote=on at your own "
				"risk",
				s->dir, remote);
	return 0;
}

static int dir_make(const struct file_session *s, struct dlk_error *err)
{
	if (dlki_file_share_make_dir(s) == 0 || errno == EEXIST)
		return 0;
	if (errno == ENOENT)
		return dlk_fail(err, DLOCK_ESYSTEM,
				"cannot make directory "
				"'%.120s': its parent does not exist",
				s->dir);
	return dlki_file_fail(err, errno, "make directory", s->dir);
}

/* Flush the parent: this client, or a client without `sync`, may just have made
 * the directory.  The parent may be closed to us, or on a file system without a
 * disk (EINVAL). */
static int flush_parent(const struct file_session *s, int dir,
			struct dlk_error *err)
{
	int fd = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = 0;

	if (fd < 0 && errno == EACCES)
		return 0;
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		rc = dlki_file_fail(err, errno, "flush the parent of", s->dir);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int dir_try(const struct file_session *s, int *out,
		   struct dlk_error *err)
{
	int fd, rc;

	rc = dlki_file_fds_hold();
	if (rc)
		return dlki_nomem(err);
	fd = dlki_file_fds_keep(
		open(s->dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	if (fd < 0)
		return errno;
	rc = dir_check(s, fd, err);
	if (rc == 0 && s->sync)
		rc = flush_parent(s, fd, err);
	if (rc < 0)
		dlki_file_fds_close(fd);
	else
		*out = fd;
	return rc;
}

/* Refuse a symbolic link, such as /var/lock often is. */
static int refuse_link(const char *dir, struct dlk_error *err)
{
	char target[PATH_MAX];
	ssize_t n = readlink(dir, target, sizeof(target) - 1);

	target[n > 0 ? n : 0] = '\0';
	return dlk_fail(err, DLOCK_EDENIED,
			"'%.90s' is a symbolic link to '%.90s': name the "
			"directory itself",
			dir, target);
}

static int dir_open_or_make(const struct file_session *s, int *out,
			    struct dlk_error *err)
{
	struct stat st;
	int rc;

	rc = dir_try(s, out, err);
	if (rc == ENOENT) {
		rc = dir_make(s, err);
		if (!rc)
			rc = dir_try(s, out, err);
	}
	if (rc <= 0)
		return rc;
	if ((rc == ELOOP || rc == ENOTDIR) && lstat(s->dir, &st) == 0) {
		if (S_ISLNK(st.st_mode))
			return refuse_link(s->dir, err);
		return dlk_fail(err, DLOCK_EINVAL,
				"'%.120s' is not a directory", s->dir);
	}
	if (rc == EACCES && lstat(s->dir, &st) == 0)
		return dlk_fail(err, DLOCK_EDENIED,
				"directory '%.90s' of user %u and group %u "
				"(mode %04o) is closed to us (user %u): "
				"several users share one of mode 2770 or 1777",
				s->dir, (unsigned int)st.st_uid,
				(unsigned int)st.st_gid,
				(unsigned int)(st.st_mode & 07777),
				(unsigned int)geteuid());
	return dlki_file_fail(err, rc, "open directory", s->dir);
}

int dlki_file_dir_open(struct file_session *s, struct dlk_error *err)
{
	return dir_open_or_make(s, &s->dirfd, err);
}

int dlki_file_dir_follow(struct file_session *s, struct dlk_error *err)
{
	struct stat here;
	int fd = -1, rc;

	if (fstat(s->dirfd, &here) == 0 &&
	    dlki_file_stands(AT_FDCWD, s->dir, here.st_dev, here.st_ino) == 1)
		return 0;
	rc = dir_open_or_make(s, &fd, err);
	if (rc < 0)
		return rc;
	dlki_file_inotify_follow_dir(s);
	/* In place: other threads may be in a system call on this
	 * descriptor. */
	if (dup3(fd, s->dirfd, O_CLOEXEC) < 0)
		rc = dlki_file_fail(err, errno, "reopen directory", s->dir);
	dlki_file_fds_close(fd);
	return rc;
}

/* Refuse what stands in the place of a lock file and is no regular file. */
static int type_refuse(const char *file, mode_t mode, struct dlk_error *err)
{
	if (S_ISREG(mode))
		return 0;
	return dlk_fail(err, DLOCK_EDENIED, "lock file '%s' is %s: remove it",
			file,
			S_ISLNK(mode)  ? "a symbolic link" :
			S_ISFIFO(mode) ? "a FIFO" :
					 "not a regular file");
}

/* Say why `file` could not be opened, or must not be used. */
static int entry_refuse(const struct file_session *s, const char *file,
			const struct stat *known, int errnum,
			struct dlk_error *err)
{
	struct stat st;
	int rc;

	if (known)
		st = *known;
	else if (fstatat(s->dirfd, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return dlki_file_fail(err, errnum, "open lock file", file);
	rc = type_refuse(file, st.st_mode, err);
	if (rc == 0)
		rc = dlki_file_share_check(s, file, &st, err);
	if (rc == 0 && errnum)
		rc = dlki_file_fail(err, errnum, "open lock file", file);
	return rc;
}

/* Open the file, or create it as a second step.  Our own file gets the mode of
 * the share; and with O_CREAT the kernel refuses another user's file in a
 * directory with the sticky bit (fs.protected_regular).  O_NOATIME works for
 * the file's owner only. */
static int entry_open(const struct file_session *s, const char *file)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
		    (s->share == FILE_SHARE_USER ? O_NOATIME : 0);
	int fd, tries;

	for (tries = 0; tries < 8; tries++) {
		fd = openat(s->dirfd, file, flags);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		fd = dlki_file_share_make(s, file, flags);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

int dlki_file_entry(struct file_session *s, const char *file, int *fd,
		    struct stat *st, struct dlk_error *err)
{
	int rc, exhausted, followed = 0;

	for (;;) {
		rc = dlki_file_fds_hold();
		if (rc)
			return dlki_nomem(err);
		*fd = dlki_file_fds_keep(entry_open(s, file));
		if (*fd >= 0 || errno != ENOENT || followed++)
			break;
		/* Creating fails, too: the directory is gone. */
		rc = dlki_file_dir_follow(s, err);
		if (rc < 0)
			return rc;
	}
	if (*fd < 0) {
		exhausted = errno == EMFILE || errno == ENFILE;
		rc = entry_refuse(s, file, NULL, errno, err);
		return exhausted ? 1 : rc;
	}
	if (fstat(*fd, st) < 0)
		rc = dlki_file_fail(err, errno, "check lock file", file);
	else
		rc = entry_refuse(s, file, st, 0, err);
	if (rc < 0) {
		dlki_file_fds_close(*fd);
		*fd = -1;
	}
	return rc;
}

int dlki_file_entry_load(int fd, const char *file,
			 const struct dlk_request *request,
			 struct file_state *st, struct dlk_error *err)
{
	struct file_header h;
	int found = dlki_file_load(fd, request->kind, request->name, &h, st);

	if (found < 0)
		return dlki_file_fail(err, errno, "read lock file", file);
	if (found == FILE_FOREIGN)
		return dlk_fail(err, DLOCK_EPROTO,
				"'%s' is not a lock file: remove it or use "
				"another directory",
				file);
	if (found == FILE_OTHER_FORMAT)
		return dlk_fail(err, DLOCK_EPROTO,
				"lock file '%s' has format %u, and we know "
				"format %u: use the same version of dlock in "
				"all programs, or remove the file while "
				"nobody uses it",
				file, (unsigned int)h.version,
				(unsigned int)FILE_FORMAT);
	if (found == FILE_OTHER)
		return dlk_fail(err, DLOCK_EPROTO,
				"lock file '%s' belongs to a lock called "
				"'%.100s'",
				file, h.name);
	return found;
}

int dlki_file_entry_read(const struct file_session *s, const char *file)
{
	return openat(s->dirfd, file,
		      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
			      O_NOCTTY);
}

int dlki_file_entry_look(const struct file_session *s, const char *file,
			 int *fd, struct dlk_error *err)
{
	struct stat st;
	int rc;

	*fd = dlki_file_entry_read(s, file);
	if (*fd < 0)
		return errno == ENOENT ?
			       0 :
			       entry_refuse(s, file, NULL, errno, err);
	rc = fstat(*fd, &st) < 0 ?
		     dlki_file_fail(err, errno, "check lock file", file) :
		     type_refuse(file, st.st_mode, err);
	if (rc < 0)
		close(*fd);
	return rc;
}

int dlki_file_entry_signal(const struct file_session *s, const char *file,
			   int mode)
{
	int fd = -1;

	if (!dlki_file_fds_hold())
		fd = dlki_file_fds_keep(openat(s->dirfd, file,
					       mode | O_CLOEXEC | O_NOFOLLOW |
						       O_NONBLOCK | O_NOCTTY));
	if (fd < 0)
		return -1;
	dlki_file_fds_close(fd);
	return 0;
}

int dlki_file_stands(int dir, const char *path, dev_t dev, ino_t ino)
{
	struct stat st;

	/* For a moment after the notice of a removal, the path can still lead
	 * to the file, but with no links. */
	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return st.st_nlink > 0 && st.st_dev == dev && st.st_ino == ino;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
}

char *dlki_file_entry_name(const struct file_session *s, const char *key,
			   const char *tail)
{
	char *file = NULL;

	if (asprintf(&file, "%s%s%s", s->prefix, key, tail) < 0)
		return NULL;
	return file;
}
