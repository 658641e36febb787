/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor: one small file for all locks of a directory and prefix.  The floor
 * is the greatest token of all removed files, so a new file's tokens are larger
 * even if the clock was set back.  A client locks the floor before removing or
 * replacing a lock file: two clients never change the file at a path at the
 * same time.
 */
#ifndef DLOCK_BACKENDS_FILE_FLOOR_H
#define DLOCK_BACKENDS_FILE_FLOOR_H

#include <dlock/backend.h>

struct file_session;

#define FILE_FLOOR_NAME_SIZE 256

/* Print the name of the floor in the directory. */
const char *dlki_file_floor_name(const struct file_session *s,
				 char buf[FILE_FLOOR_NAME_SIZE]);

/* Lock the floor, by `deadline`.  A descriptor, for dlki_file_floor_unlock();
 * or the error, EBUSY if another client has the lock. */
int dlki_file_floor_lock(struct file_session *s, dlk_time deadline,
			 struct dlk_error *err);
void dlki_file_floor_unlock(int fd); /* accepts fd < 0 */

/* Raise the floor, which is locked as `fd`, to `token` at least.  -1:
 * impossible. */
int dlki_file_floor_raise(const struct file_session *s, int fd, uint64_t token);

/* Read the greatest token of all removed files, or 0.  -1 and errno: no
 * descriptor or no memory is free. */
int dlki_file_floor(const struct file_session *s, uint64_t *token);

#endif
