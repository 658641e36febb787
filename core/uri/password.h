/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A password from a file: the first line of a regular file of at most 4096
 * bytes that belongs to this user or to root and that nobody else may read.
 */
#ifndef DLOCK_CORE_URI_PASSWORD_H
#define DLOCK_CORE_URI_PASSWORD_H

#include <dlock/backend.h>

/* EINVAL, unless this process or the system is out of something, with a
 * message that names the file and never quotes what is in it.  Wipe and free
 * the result with dlki_password_free(). */
int dlki_password_read(char **out, const char *path, struct dlk_error *err);

/* A copy of `text`, which must be text; `err` does not quote it. */
int dlki_password_copy(char **out, const char *text, struct dlk_error *err);

void dlki_password_free(char *password); /* NULL is a no-op */

#endif
