/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: one small file for all locks of a directory and prefix.  It says
 * which tokens were drawn from files that are removed, so that a new file's are
 * larger even if the clock was set back.  A client locks it before it removes
 * or replaces a lock file, so that the file at a path changes only once at a
 * time.
 */
#ifndef DLOCK_BACKENDS_FILE_FLOOR_H
#define DLOCK_BACKENDS_FILE_FLOOR_H

#include <dlock/backend.h>

struct file_session;

#define FILE_FLOOR_NAME_SIZE 256

/* Print the name of the floor within the directory. */
const char *dlki_file_floor_name(const struct file_session *s,
				 char buf[FILE_FLOOR_NAME_SIZE]);

/* Lock it, and wait for that until `deadline`.  A descriptor, for
 * dlki_file_floor_unlock(); or the error, EBUSY if others have it. */
int dlki_file_floor_lock(struct file_session *s, dlk_time deadline,
			 struct dlk_error *err);
void dlki_file_floor_unlock(int fd); /* nothing if fd < 0 */

/* With it locked as `fd`: it is `token` at least.  -1: impossible. */
int dlki_file_floor_raise(const struct file_session *s, int fd, uint64_t token);

/* The greatest token of the files that are removed, or 0. */
uint64_t dlki_file_floor(const struct file_session *s);

#endif
