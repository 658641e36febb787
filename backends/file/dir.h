/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of a store, and the files in it.
 */
#ifndef DLOCK_BACKENDS_FILE_DIR_H
#define DLOCK_BACKENDS_FILE_DIR_H

#include <dlock/backend.h>
#include <sys/stat.h>

struct file_session;
struct file_state;

/* Open the session's directory; create it if the parent exists. */
int dlki_file_dir_open(struct file_session *s, struct dlk_error *err);

/* If the directory was moved or removed, open the directory now at the path. */
int dlki_file_dir_follow(struct file_session *s, struct dlk_error *err);

/* Open `file`, creating it if need be, and refuse any file but a lock file of
 * the share.  0, or the error.  1: the error is set, and no descriptor is free;
 * another call may succeed once some are closed. */
int dlki_file_entry(struct file_session *s, const char *file, int *fd,
		    struct stat *st, struct dlk_error *err);

/* Read the state from `fd` as dlki_file_load() does, and refuse the file of
 * another program, format or lock.  enum file_found, or the error. */
int dlki_file_entry_load(int fd, const char *file,
			 const struct dlk_request *request,
			 struct file_state *st, struct dlk_error *err);

/* Open the file to read only, with no check and no creation.  -1 and errno. */
int dlki_file_entry_read(const struct file_session *s, const char *file);

/* Open the file to look at it, and refuse what is no regular file.  0, with
 * *fd -1 if there is no file; or the error. */
int dlki_file_entry_look(const struct file_session *s, const char *file,
			 int *fd, struct dlk_error *err);

/* Open the file in `mode` and close it: the event for sessions that watch the
 * file.  A child forked meanwhile does not delay the event.  -1 and errno. */
int dlki_file_entry_signal(const struct file_session *s, const char *file,
			   int mode);

/* Is the file at `path`, as seen from `dir`, the file of these numbers?  1, 0,
 * or -1 and errno. */
int dlki_file_stands(int dir, const char *path, dev_t dev, ino_t ino);

/* Return the name of the key's file, with `tail` appended; allocated. */
char *dlki_file_entry_name(const struct file_session *s, const char *key,
			   const char *tail);

/* Set the error of a failed system call on a lock file, by errno. */
int dlki_file_fail(struct dlk_error *err, int errnum, const char *doing,
		   const char *what);

#endif
