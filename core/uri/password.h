/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A password from a file: the first line of a regular file of at most 4096
 * bytes.  The file belongs to this user or to root, and other users may not
 * read it.
 */
#ifndef DLOCK_CORE_URI_PASSWORD_H
#define DLOCK_CORE_URI_PASSWORD_H

#include <dlock/backend.h>

/* Read the password.  EINVAL, unless this process or the system is out of a
 * resource; the message names the file and never quotes the contents.  Free the
 * result with dlki_password_free(), which wipes it. */
int dlki_password_read(char **out, const char *path, struct dlk_error *err);

/* Copy `text`, which must be text; `err` does not quote it. */
int dlki_password_copy(char **out, const char *text, struct dlk_error *err);

void dlki_password_free(char *password); /* accepts NULL */

#endif
