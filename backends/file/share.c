/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/share.h"

#include <dlock/backend.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/file/file.h"
#include "core/base/error.h"

#define OTHERS (S_IWGRP | S_IWOTH)
#define NAME_SIZE 128

static const struct {
	const char *name;
	mode_t file, dir;
} shares[] = {
	[FILE_SHARE_USER] = { "user", 0600, 0700 },
	[FILE_SHARE_GROUP] = { "group", 0660, S_ISGID | 0770 },
	[FILE_SHARE_ALL] = { "all", 0666, S_ISVTX | 0777 },
};

/* ---- Which directory, and which file ------------------------------------- */

static int check_dir_of_user(const struct file_session *s,
			     const struct stat *st, struct dlk_error *err)
{
	uid_t me = geteuid();

	if (st->st_uid != me && st->st_uid != 0)
		return dlk_fail(err, DLOCK_EDENIED,
				"directory '%.80s' "
				"belongs to user %u, not to us (%u) or root: "
				"they could take the locks away; trust them "
				"with share=group or share=all",
				s->dir, (unsigned int)st->st_uid,
				(unsigned int)me);
	if ((st->st_mode & OTHERS) && !(st->st_mode & S_ISVTX))
		return dlk_fail(err, DLOCK_EDENIED,
				"directory '%.120s' can be "
				"written by others and has no sticky bit: "
				"chmod go-w or chmod +t it, or share it with "
				"share=group",
				s->dir);
	return 0;
}

static int check_dir_of_group(const struct file_session *s, int fd,
			      const struct stat *st, struct dlk_error *err)
{
	if (st->st_mode & S_IWOTH)
		return dlk_fail(err, DLOCK_EDENIED,
				"directory '%.120s' can be "
				"written by all users: chmod o-w it for "
				"share=group, or use share=all",
				s->dir);
	if ((st->st_mode & S_IRWXG) != S_IRWXG)
		return dlk_fail(err, DLOCK_EDENIED,
				"directory '%.120s' (mode %04o) is not open to "
				"its group %u: chmod g+rwxs it for share=group",
				s->dir, (unsigned int)(st->st_mode & 07777),
				(unsigned int)st->st_gid);
	if (faccessat(fd, ".", R_OK | W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	if (errno == EACCES)
		return dlk_fail(err, DLOCK_EDENIED,
				"directory '%.120s' is for "
				"group %u, and we (user %u) are not in it: "
				"add us to the group",
				s->dir, (unsigned int)st->st_gid,
				(unsigned int)geteuid());
	return dlk_fail(err, DLOCK_EDENIED, "cannot use directory '%.120s': %s",
			s->dir, dlki_errno_text(errno));
}

static int check_dir_of_all(const struct file_session *s, const struct stat *st,
			    struct dlk_error *err)
{
	if ((st->st_mode & (S_ISVTX | 0777)) != (S_ISVTX | 0777))
		return dlk_fail(err, DLOCK_EDENIED,
				"directory '%.120s' (mode %04o) is not one for "
				"all users: chmod it to 1777 for share=all, or "
				"use share=group",
				s->dir, (unsigned int)(st->st_mode & 07777));
	return 0;
}

int dlki_file_share_check_dir(const struct file_session *s, int fd,
			      const struct stat *st, struct dlk_error *err)
{
	switch (s->share) {
	case FILE_SHARE_GROUP:
		return check_dir_of_group(s, fd, st, err);
	case FILE_SHARE_ALL:
		return check_dir_of_all(s, st, err);
	case FILE_SHARE_USER:
		break;
	}
	return check_dir_of_user(s, st, err);
}

int dlki_file_share_fits(const struct file_session *s, const struct stat *st)
{
	return (st->st_mode & 07777) == shares[s->share].file;
}

static int refuse_owner(const char *file, const struct stat *st,
			struct dlk_error *err)
{
	return dlk_fail(err, DLOCK_EDENIED,
			"lock file '%.80s' belongs to "
			"user %u, not to us (%u): it is theirs alone; "
			"remove it while nobody uses it and give "
			"everybody share=group or share=all",
			file, (unsigned int)st->st_uid,
			(unsigned int)geteuid());
}

/* Refuse a file for the mode, which may be the mode of another share. */
static int refuse_mode(const struct file_session *s, const char *file,
		       const struct stat *st, struct dlk_error *err)
{
	mode_t mode = st->st_mode & 07777;
	size_t i;

	for (i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		if (mode == shares[i].file)
			return dlk_fail(err, DLOCK_EDENIED,
					"lock file '%.90s' of user %u is for "
					"share=%s (mode %04o), and we have "
					"share=%s: use the same share, or "
					"remove the file while nobody uses it",
					file, (unsigned int)st->st_uid,
					shares[i].name, (unsigned int)mode,
					shares[s->share].name);
	}
	if (s->share == FILE_SHARE_USER && st->st_uid != geteuid())
		return refuse_owner(file, st, err);
	return dlk_fail(err, DLOCK_EDENIED,
			"lock file '%.120s' of user %u has mode %04o: chmod it "
			"to %04o",
			file, (unsigned int)st->st_uid, (unsigned int)mode,
			(unsigned int)shares[s->share].file);
}

static int check_group(const struct file_session *s, const char *file,
		       const struct stat *st, struct dlk_error *err)
{
	struct stat dir;

	if (fstat(s->dirfd, &dir) < 0)
		return dlk_fail(err, DLOCK_ESYSTEM,
				"cannot check directory '%.120s': %s", s->dir,
				dlki_errno_text(errno));
	if (st->st_gid == dir.st_gid)
		return 0;
	return dlk_fail(err, DLOCK_EDENIED,
			"lock file '%.120s' of user %u has group %u, and the "
			"directory %u: chgrp it, or remove it while nobody "
			"uses it",
			file, (unsigned int)st->st_uid,
			(unsigned int)st->st_gid, (unsigned int)dir.st_gid);
}

int dlki_file_share_check(const struct file_session *s, const char *file,
			  const struct stat *st, struct dlk_error *err)
{
	int of_user = s->share == FILE_SHARE_USER;
	mode_t mode = st->st_mode & 07777;

	if (st->st_nlink > 1)
		return dlk_fail(err, DLOCK_EDENIED,
				"lock file '%.120s' of user %u has %u hard "
				"links: remove it",
				file, (unsigned int)st->st_uid,
				(unsigned int)st->st_nlink);
	if (of_user ? mode & ~(mode_t)0600 : mode != shares[s->share].file)
		return refuse_mode(s, file, st, err);
	if (of_user && st->st_uid != geteuid())
		return refuse_owner(file, st, err);
	return s->share == FILE_SHARE_GROUP ? check_group(s, file, st, err) : 0;
}

int dlki_file_share_crowded(const struct file_session *s)
{
	struct stat dir;

	return fstat(s->dirfd, &dir) == 0 && (dir.st_mode & OTHERS) != 0;
}

int dlki_file_share_removes(const struct file_session *s, const struct stat *st)
{
	uid_t me = geteuid();
	struct stat dir;

	return st->st_uid == me || me == 0 ||
	       (fstat(s->dirfd, &dir) == 0 &&
		(!(dir.st_mode & S_ISVTX) || dir.st_uid == me));
}

/* ---- Making them --------------------------------------------------------- */

int dlki_file_share_apply(const struct file_session *s, int fd)
{
	struct stat dir, st;

	if (s->share == FILE_SHARE_GROUP) {
		if (fstat(s->dirfd, &dir) < 0 || fstat(fd, &st) < 0)
			return -1;
		if (st.st_gid != dir.st_gid &&
		    fchown(fd, (uid_t)-1, dir.st_gid) < 0)
			return -1;
	}
	/* A umask may have cleared bits of the mode. */
	return fchmod(fd, shares[s->share].file);
}

static int rename_to_free(int dirfd, const char *from, const char *to)
{
	return (int)syscall(SYS_renameat2, dirfd, from, dirfd, to,
			    RENAME_NOREPLACE);
}

static int random_id(uint64_t *id)
{
	struct dlk_error err;

	if (dlk_random(id, sizeof(*id), &err) == 0)
		return 0;
	errno = EIO;
	return -1;
}

int dlki_file_share_make(const struct file_session *s, const char *file,
			 int flags)
{
	char fresh[NAME_SIZE];
	uint64_t id;
	int fd, errnum;

	flags |= O_CREAT | O_EXCL;
	if (s->share == FILE_SHARE_USER) {
		fd = openat(s->dirfd, file, flags, 0600);
		if (fd >= 0)
			(void)dlki_file_share_apply(s, fd);
		return fd;
	}
	if (random_id(&id) < 0)
		return -1;
	snprintf(fresh, sizeof(fresh), "%s~new-%016llx", s->prefix,
		 (unsigned long long)id);
	fd = openat(s->dirfd, fresh, flags, 0600);
	if (fd < 0)
		return -1;
	if (dlki_file_share_apply(s, fd) == 0 &&
	    rename_to_free(s->dirfd, fresh, file) == 0)
		return fd;
	errnum = errno;
	(void)unlinkat(s->dirfd, fresh, 0);
	close(fd);
	errno = errnum;
	return -1;
}

/* A umask may have cleared bits of the mode. */
static int make_own_dir(const char *dir, mode_t mode)
{
	if (mkdir(dir, mode) < 0)
		return -1;
	/* Without /proc the umask decides. */
	if (fchmodat(AT_FDCWD, dir, mode, AT_SYMLINK_NOFOLLOW) < 0 &&
	    errno != EOPNOTSUPP)
		return -1;
	return 0;
}

/* Make the directory, as dlki_file_share_make() makes a file. */
static int make_dir(const char *dir, const char *fresh, mode_t mode)
{
	int fd, errnum;

	if (mkdir(fresh, 0700) < 0)
		return -1;
	fd = open(fresh, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && fchmod(fd, mode) == 0 &&
	    rename_to_free(AT_FDCWD, fresh, dir) == 0) {
		close(fd);
		return 0;
	}
	errnum = errno;
	if (fd >= 0)
		close(fd);
	(void)rmdir(fresh);
	errno = errnum;
	return -1;
}

int dlki_file_share_make_dir(const struct file_session *s)
{
	char *fresh;
	uint64_t id;
	int rc;

	if (s->share == FILE_SHARE_USER)
		return make_own_dir(s->dir, shares[s->share].dir);
	if (random_id(&id) < 0)
		return -1;
	if (asprintf(&fresh, "%s.~new-%016llx", s->dir,
		     (unsigned long long)id) < 0) {
		errno = ENOMEM;
		return -1;
	}
	rc = make_dir(s->dir, fresh, shares[s->share].dir);
	free(fresh);
	return rc;
}
