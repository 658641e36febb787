/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of a store, and the files in it.
 */
#ifndef DLOCK_BACKENDS_FILE_DIR_H
#define DLOCK_BACKENDS_FILE_DIR_H

#include <dlock/backend.h>
#include <sys/stat.h>

struct file_session;

/* Open the session's directory; create it if its parent exists. */
int dlki_file_dir_open(struct file_session *s, struct dlk_error *err);

/* If the directory was moved or removed, open the one that is at its path
 * now. */
int dlki_file_dir_follow(struct file_session *s, struct dlk_error *err);

/* Open `file`, creating it, and refuse what is not a lock file of ours.  0, or
 * the error.  1: the error as well; no descriptor is free, so that it may work
 * once some are closed. */
int dlki_file_entry(struct file_session *s, const char *file, int *fd,
		    struct stat *st, struct dlk_error *err);

/* Open it to read only, without any of that.  -1 and errno. */
int dlki_file_entry_read(const struct file_session *s, const char *file);

/* The name of the key's file with `tail` after it; allocated. */
char *dlki_file_entry_name(const struct file_session *s, const char *key,
			   const char *tail);

/* The error of a failed system call on a lock file, by errno. */
int dlki_file_fail(struct dlk_error *err, int errnum, const char *doing,
		   const char *what);

#endif
