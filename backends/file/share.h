/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The share of a store: which users use the locks of a directory.  It is a
 * user, a group, or all users of the host.  The share decides which directory
 * is accepted, and which mode and group each file gets: the mode of a file
 * tells the share.
 *
 * A file or directory of several users gets mode and group under another name,
 * and the right name last.  So no other user ever meets a file half made, and a
 * client killed in between leaves no file in the way of others.
 */
#ifndef DLOCK_BACKENDS_FILE_SHARE_H
#define DLOCK_BACKENDS_FILE_SHARE_H

#include <dlock/backend.h>
#include <sys/stat.h>

struct file_session;

/* In the order of FILE_SHARE_CHOICES. */
enum file_share { FILE_SHARE_USER, FILE_SHARE_GROUP, FILE_SHARE_ALL };

#define FILE_SHARE_CHOICES "user|group|all"

/* Refuse a directory, open as `fd`, if users without the share can replace or
 * remove a file, or if some users with the share cannot make a file. */
int dlki_file_share_check_dir(const struct file_session *s, int fd,
			      const struct stat *st, struct dlk_error *err);

/* Refuse a regular file if users without the share could use the file, or if
 * some users with the share could not. */
int dlki_file_share_check(const struct file_session *s, const char *file,
			  const struct stat *st, struct dlk_error *err);

/* Has the file the mode of this share? */
int dlki_file_share_fits(const struct file_session *s, const struct stat *st);

/* Does the directory let us remove the file?  The sticky bit may forbid it. */
int dlki_file_share_removes(const struct file_session *s,
			    const struct stat *st);

/* Give a new file mode and group.  -1 and errno. */
int dlki_file_share_apply(const struct file_session *s, int fd);

/* Make the file or the directory.  -1 and errno; EEXIST if another client was
 * faster. */
int dlki_file_share_make(const struct file_session *s, const char *file,
			 int flags);
int dlki_file_share_make_dir(const struct file_session *s);

/* Can other users make files in the directory? */
int dlki_file_share_crowded(const struct file_session *s);

#endif
